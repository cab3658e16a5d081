import { matchesGlob } from '../batch/glob.ts';
import { keyOf, type Signature, verdictOn } from './signature.ts';

/** What an artifact has to fulfil before any of it is written. Every rule that is set has to hold. */
export interface Policy {
  /** Public keys as PEM: one of `anyOf`, and each of `allOf`, has to have signed the digest that is moved. */
  requiredSigners?: { anyOf?: readonly string[]; allOf?: readonly string[] };
  /** Patterns (`matchesGlob`) of `host[:port]/path` in lower case; a denied one wins. */
  repositories?: { allowed?: readonly string[]; denied?: readonly string[] };
  /** Of all blobs and manifests, those of referrers included. */
  maxBytes?: number;
  /** The age of the oldest image, in milliseconds. */
  maxAgeMs?: number;
  /** Patterns in lower case for manifests, configs, layers and artifact types. */
  mediaTypes?: readonly string[];
  requiredSbom?: boolean;
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
  images: readonly { digest: string; createdMs: number | undefined }[];
  /** The digests of what an SBOM refers to. */
  described: ReadonlySet<string>;
  /** Those attached to the root, whoever made them. */
  signatures: readonly Signature[];
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
  ['requiredSigners', requiredSigners],
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

function requiredSigners({ requiredSigners: wanted }: Policy, facts: Facts): string | undefined {
  const { anyOf, allOf = [] } = wanted ?? {};
  const signed = anyOf === undefined || anyOf.some((pem) => hasSigned(pem, facts));
  if (!signed) return `none of the keys of anyOf has signed ${facts.digest}: ${listed(anyOf ?? [], facts)}`;
  const missing = allOf.findIndex((pem) => !hasSigned(pem, facts));
  const pem = allOf[missing];
  return pem === undefined
    ? undefined
    : `the key allOf[${missing}] has not signed ${facts.digest}: ${listed([pem], facts)}`;
}

function hasSigned(pem: string, { digest, signatures }: Facts): boolean {
  const key = keyOf(pem);
  return signatures.some((signature) => verdictOn(signature, digest, key) === 'signed');
}

/** What the signatures are that do not count. */
function listed(pems: readonly string[], { digest, signatures }: Facts): string {
  if (signatures.length === 0)
    return 'it has no cosign signature; one of a single platform does not count for the whole';
  const keys = pems.map(keyOf);
  const isElse = (signature: Signature) =>
    keys.some((key) => verdictOn(signature, digest, key) === 'signed-something-else');
  const elsewhere = signatures.filter(isElse).length;
  const others = signatures.length - elsewhere;
  const parts = [
    ...(others > 0 ? [`${others} by another key or tampered with`] : []),
    ...(elsewhere > 0 ? [`${elsewhere} by a right key, of something else`] : []),
  ];
  return `of its signatures, ${parts.join(' and ')}`;
}
