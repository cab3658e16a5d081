import { matchesGlob } from '../reference/glob.ts';
import { type ChartFacts, unsignedChart } from './chart-provenance.ts';
import type { ScanReport } from './scan-report.ts';
import { type RequiredSigners, type SignedBy, unsigned } from './signers.ts';
import { type ScannedImage, tooManyFindings, unscanned, type VulnerabilityRule } from './vulnerabilities.ts';

/** The requirements of an artifact, checked before any of it is written. Every rule that is set must hold. */
export interface Policy {
  /** One of `anyOf` and each of `allOf` must have signed the digest that is moved. */
  requiredSigners?: RequiredSigners;
  /** Patterns (`matchesGlob`) of `host[:port]/path` in lower case; `denied` takes precedence. */
  repositories?: { allowed?: readonly string[]; denied?: readonly string[] };
  /** Total of all blobs and manifests, including those of referrers. */
  maxBytes?: number;
  /** The age of the oldest image, in milliseconds. */
  maxAgeMs?: number;
  /** Patterns in lower case for manifests, configs, layers and artifact types. */
  mediaTypes?: readonly string[];
  requiredSbom?: boolean;
  /** Armored OpenPGP keys, one of which must have signed a chart's provenance. */
  chartSigners?: readonly string[];
  vulnerabilities?: VulnerabilityRule;
}

/** One of several policies, with its origin for messages. */
export interface NamedPolicy {
  from?: string;
  policy: Policy;
}

/** One policy, or several that must all hold. */
export type Policies = Policy | readonly NamedPolicy[];

/** The policies as a list. */
export function policiesIn(policies: Policies): readonly NamedPolicy[] {
  return isList(policies) ? policies : [{ policy: policies }];
}

function isList(policies: Policies): policies is readonly NamedPolicy[] {
  return Array.isArray(policies);
}

/** The facts that a policy is evaluated against. Facts that none of its rules need may be empty. */
export interface Facts {
  /** The digest of the root, which arrives at the destination. */
  digest: string;
  /** `host[:port]/path` in lower case; undefined for sources without such a name, such as an OCI layout. */
  repository: string | undefined;
  bytes: number;
  /** Distinct media types in lower case, without those of referrers. */
  mediaTypes: readonly string[];
  /** The images of the artifact; `createdMs` (since the epoch) is undefined if an image has no creation time. */
  images: readonly (ScannedImage & { createdMs: number | undefined })[];
  /** Digests of the manifests with an SBOM. */
  described: ReadonlySet<string>;
  /** The chart, if the artifact is one and a rule needs it. */
  chart?: ChartFacts;
  /** All signatures attached to the root. */
  signatures: readonly SignedBy[];
  /** Trusted scan reports: of the operator's scanner, or signed by an accepted key. */
  reports: readonly ScanReport[];
  nowMs: number;
}

/** `rule` is the field of the policy, `found` the violation, as the end of a sentence. */
export type Decision = { allowed: true } | { allowed: false; rule: string; found: string };

/** Returns the violation; undefined if the rule holds. */
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

/** Decides whether an artifact may be moved. A rule denies if a fact that it needs is unknown. */
export function evaluatePolicy(policy: Policy, facts: Facts): Decision {
  for (const [rule, check] of rules) {
    const found = check(policy, facts);
    if (found !== undefined) return { allowed: false, rule, found };
  }
  return { allowed: true };
}

const unnamed = 'the source is not a repository of a registry and has no name to match';

function deniedRepository({ repositories }: Policy, { repository }: Facts): string | undefined {
  if (repositories?.denied === undefined) return undefined;
  if (repository === undefined) return unnamed;
  const pattern = repositories.denied.find((each) => matchesGlob(each, repository));
  return pattern === undefined ? undefined : `${repository} matches "${pattern}"`;
}

function allowedRepository({ repositories }: Policy, { repository }: Facts): string | undefined {
  if (repositories?.allowed === undefined) return undefined;
  if (repository === undefined) return unnamed;
  const isAllowed = repositories.allowed.some((each) => matchesGlob(each, repository));
  return isAllowed ? undefined : `${repository} matches none of the patterns`;
}

/** RFC 6838: a media type is two names of at most 127 characters. */
const maxMediaTypeLength = 255;

function mediaTypes({ mediaTypes: patterns }: Policy, facts: Facts): string | undefined {
  if (patterns === undefined) return undefined;
  const fits = (type: string) =>
    type.length <= maxMediaTypeLength && patterns.some((pattern) => matchesGlob(pattern, type));
  const other = facts.mediaTypes.find((type) => !fits(type));
  return other === undefined
    ? undefined
    : `it has media type "${other.slice(0, 100)}", which matches none of the patterns`;
}

function maxBytes({ maxBytes: most }: Policy, { bytes }: Facts): string | undefined {
  if (most === undefined || bytes <= most) return undefined;
  return `it has ${bytes} bytes, more than ${most}`;
}

/** Tolerance for the clocks of builders. */
const skewMs = 24 * 3_600_000;

function maxAge({ maxAgeMs }: Policy, { images, nowMs }: Facts): string | undefined {
  if (maxAgeMs === undefined) return undefined;
  if (images.length === 0) return 'it has no image with a creation time';
  for (const { digest, createdMs } of images) {
    if (createdMs === undefined) return `image ${digest} has no creation time`;
    if (createdMs - nowMs > skewMs) return `image ${digest} has a creation time in the future`;
    if (nowMs - createdMs > maxAgeMs)
      return `image ${digest} was created at ${new Date(createdMs).toISOString()}, more than ${maxAgeMs / 3_600_000}h ago`;
  }
  return undefined;
}

function requiredSbom(policy: Policy, { digest, images, described }: Facts): string | undefined {
  if (policy.requiredSbom !== true || described.has(digest)) return undefined;
  const without = images.find((image) => !described.has(image.digest));
  if (images.length > 0 && without === undefined) return undefined;
  return `no SBOM refers to it${without === undefined || without.digest === digest ? '' : `, nor to its image ${without.digest}`}`;
}
