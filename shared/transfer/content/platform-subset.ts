import { isRecord } from '#shared/base/meta';
import { TransferError } from '../errors/transfer-error.ts';
import type { RetryPolicy } from '../http/retry.ts';
import { readBlob } from './blob-content.ts';
import type { ContentSource } from './content.ts';
import { type Descriptor, type Manifest, parseManifest } from './manifest.ts';

/** `os/architecture[/variant]` of the OCI image specification, such as `linux/arm/v7`. Without a variant it stands for all of them. */
type Platform = readonly [os: string, architecture: string, variant?: string];

const platformForm = /^[a-z0-9._-]+\/[a-z0-9._-]+(?:\/[a-z0-9._-]+)?$/;
const maxPlatforms = 50;
const maxConfigBytes = 1024 * 1024;
/** BuildKit attaches provenance and SBOMs as manifests of the index, with the digest of the image in this annotation. */
const attestedDigest = 'vnd.docker.reference.digest';

/** Checks a list of platforms, `spec.platforms` of an artifact. Throws a config TransferError. */
export function parsePlatforms(given: unknown): string[] {
  const valid = (each: unknown): each is string => typeof each === 'string' && platformForm.test(each);
  if (Array.isArray(given) && given.length > 0 && given.length <= maxPlatforms && given.every(valid))
    return given;
  throw new TransferError(
    'config',
    `spec.platforms must be a list of 1 to ${maxPlatforms} platforms such as "linux/amd64" or "linux/arm/v7".`,
  );
}

/**
 * The source with only `platforms` of its index: the index is written anew, so it has another digest. An image that is not an index must
 * be for one of the platforms. Its operations reject with a TransferError if the source has none of one of the platforms.
 */
export function platformSubset(
  source: ContentSource,
  platforms: readonly string[],
  retry: RetryPolicy,
): ContentSource {
  let whole: Manifest | undefined;
  let subset: Manifest | undefined;
  return {
    ...source,
    async root(signal) {
      whole = await source.root(signal);
      if (whole.children.length === 0) {
        await mustFit(source, whole, platforms, retry, signal);
        return whole;
      }
      subset = rewritten(source, whole, platforms);
      return subset;
    },
    async findReferrers(subject, warn, signal) {
      if (whole === undefined || subject !== subset || subset.digest === whole.digest)
        return source.findReferrers(subject, warn, signal);
      const lost = await source.findReferrers(whole, warn, signal);
      if (lost.length > 0)
        warn(
          `${lost.length} referrers (signatures, SBOMs, attestations) of the whole index ${whole.digest} are not copied: they do not hold for the part with ${platforms.join(', ')}`,
        );
      return [];
    },
  };
}

/** The index with the children of the platforms and their attestations, in their order; the index itself if that is all of it. */
function rewritten(source: ContentSource, index: Manifest, platforms: readonly string[]): Manifest {
  const parsed: unknown = JSON.parse(index.bytes.toString('utf8'));
  const entries = isRecord(parsed) && Array.isArray(parsed.manifests) ? parsed.manifests : [];
  const platformsOf = entries.map((entry) => platformOf(isRecord(entry) ? entry.platform : undefined));
  for (const wanted of platforms)
    if (!platformsOf.some((each) => matches(each, wanted)))
      throw missing(
        source,
        wanted,
        platformsOf.filter((each) => each !== undefined),
      );
  const isKept = (_: unknown, at: number): boolean =>
    platforms.some((wanted) => matches(platformsOf[at], wanted));
  const images = new Set(index.children.filter(isKept).map(({ digest }) => digest));
  const attests = ({ annotations }: Descriptor): boolean => images.has(annotations?.[attestedDigest] ?? '');
  const kept = index.children.map((child) => images.has(child.digest) || attests(child));
  if (kept.every(Boolean)) return index;
  const manifests = entries.filter((_, at) => kept[at]);
  const bytes = Buffer.from(JSON.stringify({ ...(isRecord(parsed) ? parsed : {}), manifests }));
  return parseManifest(bytes, `part of ${index.digest}`, index.mediaType);
}

async function mustFit(
  source: ContentSource,
  image: Manifest,
  platforms: readonly string[],
  retry: RetryPolicy,
  signal: AbortSignal,
): Promise<void> {
  const [config] = image.blobs;
  if (config === undefined || config.size > maxConfigBytes) return;
  const platform = platformOf(parsedOrNothing(await readBlob({ source, blob: config, retry }, signal)));
  // A chart or a file has no platform, so there is nothing to choose from.
  if (platform === undefined || platforms.every((wanted) => matches(platform, wanted))) return;
  const absent = platforms.find((wanted) => !matches(platform, wanted)) ?? '';
  throw missing(source, absent, [platform]);
}

function parsedOrNothing(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    // The config of an artifact that is not an image may be anything.
    return undefined;
  }
}

function platformOf(value: unknown): Platform | undefined {
  if (!isRecord(value)) return undefined;
  const { os, architecture, variant } = value;
  if (typeof os !== 'string' || typeof architecture !== 'string') return undefined;
  return typeof variant === 'string' ? [os, architecture, variant] : [os, architecture];
}

function matches(platform: Platform | undefined, wanted: string): boolean {
  if (platform === undefined) return false;
  const [os, architecture, variant] = wanted.split('/');
  // The base variant of arm64 is written or left out (containerd's normalisation).
  const own = platform[2] ?? (platform[1] === 'arm64' ? 'v8' : undefined);
  return platform[0] === os && platform[1] === architecture && (variant === undefined || variant === own);
}

function missing(source: ContentSource, wanted: string, found: readonly Platform[]): TransferError {
  const has = [...new Set(found.map((each) => each.join('/')))].slice(0, 20).join(', ') || 'none';
  return new TransferError(
    'permanent',
    `The image of ${source.place} is not there for platform ${wanted} (it is for: ${has}): correct spec.platforms.`,
  );
}
