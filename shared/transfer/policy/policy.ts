import { matchesGlob } from '../reference/glob.ts';
import { type ChartFacts, unsignedChart } from './chart-provenance.ts';
import type { ScanReport } from './scan-report.ts';
import { type RequiredSigners, type SignedBy, unsigned } from './signers.ts';
import { type ScannedImage, tooManyFindings, unscanned, type VulnerabilityRule } from './vulnerabilities.ts';

/** What an artifact has to fulfil before any of it is written. Every rule that is set has to hold. */
export interface Policy {
  /** One of `anyOf`, and each of `allOf`, has to have signed the digest that is moved. */
  requiredSigners?: RequiredSigners;
  /** Patterns (`matchesGlob`) of `host[:port]/path` in lower case; a denied one wins. */
  repositories?: { allowed?: readonly string[]; denied?: readonly string[] };
  /** Of all blobs and manifests, those of referrers included. */
  maxBytes?: number;
  /** The age of the oldest image, in milliseconds. */
  maxAgeMs?: number;
  /** Patterns in lower case for manifests, configs, layers and artifact types. */
  mediaTypes?: readonly string[];
  requiredSbom?: boolean;
  /** Armored OpenPGP keys: a chart has to have a provenance by one of them. */
  chartSigners?: readonly string[];
  vulnerabilities?: VulnerabilityRule;
}

/** One of several policies, with who asks for it, for people. */
export interface NamedPolicy {
  from?: string;
  policy: Policy;
}

/** What an artifact has to fulfil: one policy, or several, of which each has to be fulfilled. */
export type Policies = Policy | readonly NamedPolicy[];

/** Each of them by itself. */
export function policiesIn(policies: Policies): readonly NamedPolicy[] {
  return isList(policies) ? policies : [{ policy: policies }];
}

function isList(policies: Policies): policies is readonly NamedPolicy[] {
  return Array.isArray(policies);
}

/** What a policy is judged by. Lists that no rule of it asks for may be empty. */
export interface Facts {
  /** Of the root: the digest that lands at the destination. */
  digest: string;
  /** `host[:port]/path` in lower case; undefined where the source has no such name, as an OCI layout. */
  repository: string | undefined;
  bytes: number;
  /** Each once, in lower case; those of referrers do not count. */
  mediaTypes: readonly string[];
  /** The images of the artifact; `createdMs` (since 1970) is undefined where an image does not say when it was made. */
  images: readonly (ScannedImage & { createdMs: number | undefined })[];
  /** The digests of the manifests that have an SBOM. */
  described: ReadonlySet<string>;
  /** If it is a chart, and a rule asks for it. */
  chart?: ChartFacts;
  /** Those attached to the root, whoever made them. */
  signatures: readonly SignedBy[];
  /** Those that count: of the operator's scanner, or signed by who may. */
  reports: readonly ScanReport[];
  nowMs: number;
}

/** `rule` is the field of the policy, `found` what the artifact has instead, as the end of a sentence. */
export type Decision = { allowed: true } | { allowed: false; rule: string; found: string };

/** `undefined`: the rule holds. */
type Rule = (policy: Policy, facts: Facts) => string | undefined;

const rules: readonly (readonly [string, Rule])[] = [
  ['repositories.denied', deniedRepository],
  ['repositories.allowed', allowedRepository],
  ['mediaTypes', mediaTypes],
  ['maxBytes', maxBytes],
  ['maxAge', maxAge],
  ['requiredSbom', requiredSbom],
  ['requiredSigners', ({ requiredSigners }, facts) => unsigned(requiredSigners, facts)],
  ['chartSigners', ({ chartSigners }, { chart, nowMs }) => unsignedChart(chartSigners, chart, nowMs)],
  ['vulnerabilities.notScanned', ({ vulnerabilities }, facts) => unscanned(vulnerabilities, facts)],
  ['vulnerabilities.max', ({ vulnerabilities }, facts) => tooManyFindings(vulnerabilities, facts)],
];

/** Decides whether an artifact may be moved. A fact that a rule needs and that is not known is a denial. */
export function judge(policy: Policy, facts: Facts): Decision {
  for (const [rule, check] of rules) {
    const found = check(policy, facts);
    if (found !== undefined) return { allowed: false, rule, found };
  }
  return { allowed: true };
}

const unnamed = 'the source is no repository of a registry and has no name to judge';

function deniedRepository({ repositories }: Policy, { repository }: Facts): string | undefined {
  if (repositories?.denied === undefined) return undefined;
  if (repository === undefined) return unnamed;
  const pattern = repositories.denied.find((each) => matchesGlob(each, repository));
  return pattern === undefined ? undefined : `${repository} fits "${pattern}"`;
}

function allowedRepository({ repositories }: Policy, { repository }: Facts): string | undefined {
  if (repositories?.allowed === undefined) return undefined;
  if (repository === undefined) return unnamed;
  const isAllowed = repositories.allowed.some((each) => matchesGlob(each, repository));
  return isAllowed ? undefined : `${repository} fits none of its patterns`;
}

/** RFC 6838: a media type is two names of at most 127 characters. */
const longestMediaType = 255;

function mediaTypes({ mediaTypes: patterns }: Policy, facts: Facts): string | undefined {
  if (patterns === undefined) return undefined;
  const fits = (type: string) =>
    type.length <= longestMediaType && patterns.some((pattern) => matchesGlob(pattern, type));
  const other = facts.mediaTypes.find((type) => !fits(type));
  return other === undefined
    ? undefined
    : `it has media type "${other.slice(0, 100)}", which fits none of its patterns`;
}

function maxBytes({ maxBytes: most }: Policy, { bytes }: Facts): string | undefined {
  if (most === undefined || bytes <= most) return undefined;
  return `it has ${bytes} bytes, more than ${most}`;
}

/** Times of images come from other machines. */
const skewMs = 24 * 3_600_000;

function maxAge({ maxAgeMs }: Policy, { images, nowMs }: Facts): string | undefined {
  if (maxAgeMs === undefined) return undefined;
  if (images.length === 0) return 'it has no image that says when it was made';
  for (const { digest, createdMs } of images) {
    if (createdMs === undefined) return `image ${digest} does not say when it was made`;
    if (createdMs - nowMs > skewMs) return `image ${digest} says that it was made in the future`;
    if (nowMs - createdMs > maxAgeMs)
      return `image ${digest} was made at ${new Date(createdMs).toISOString()}, more than ${maxAgeMs / 3_600_000}h ago`;
  }
  return undefined;
}

function requiredSbom(policy: Policy, { digest, images, described }: Facts): string | undefined {
  if (policy.requiredSbom !== true || described.has(digest)) return undefined;
  const without = images.find((image) => !described.has(image.digest));
  if (images.length > 0 && without === undefined) return undefined;
  return `no SBOM refers to it${without === undefined || without.digest === digest ? '' : `, nor to its image ${without.digest}`}`;
}
