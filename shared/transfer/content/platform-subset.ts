import { isRecord } from '#shared/base/meta';
import { TransferError } from '../errors/transfer-error.ts';
import type { RetryPolicy } from '../http/retry.ts';
import { readBlob } from './blob-content.ts';
import type { ContentSource } from './content.ts';
import { type Descriptor, type Manifest, parseManifest } from './manifest.ts';

/** `os/architecture[/variant]` of the OCI image specification, such as `linux/arm/v7`. Without a variant it matches all variants. */
type Platform = readonly [os: string, architecture: string, variant?: string];

const platformForm = /^[a-z0-9._-]+\/[a-z0-9._-]+(?:\/[a-z0-9._-]+)?$/;
const maxPlatforms = 50;
const maxConfigBytes = 1024 * 1024;
/** BuildKit lists provenance and SBOMs in the index, with the digest of their image in this annotation. */
const attestedDigest = 'vnd.docker.reference.digest';

/** Validates a list of platforms (`spec.platforms`). Throws a config TransferError. */
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
 * Returns the source restricted to `platforms`: its index is rewritten, so it has another digest. An image that is not an index must match
 * every platform. Operations reject with a TransferError if the source lacks one of the platforms.
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
        await requirePlatforms(source, whole, platforms, retry, signal);
        return whole;
      }
      subset = filteredIndex(source, whole, platforms);
      return subset;
    },
    async findReferrers(subject, warn, signal) {
      if (whole === undefined || subject !== subset || subset.digest === whole.digest)
        return source.findReferrers(subject, warn, signal);
      const lost = await source.findReferrers(whole, warn, signal);
      if (lost.length > 0)
        warn(
          `${lost.length} referrers (signatures, SBOMs, attestations) of the whole index ${whole.digest} are not copied: they do not apply to its subset ${platforms.join(', ')}`,
        );
      return [];
    },
  };
}

/** The index with the images of the platforms and their attestations, in the original order; the index itself if nothing is dropped. */
function filteredIndex(source: ContentSource, index: Manifest, platforms: readonly string[]): Manifest {
  const parsed: unknown = JSON.parse(index.bytes.toString('utf8'));
  const entries = isRecord(parsed) && Array.isArray(parsed.manifests) ? parsed.manifests : [];
  const platformsOf = entries.map((entry) => platformOf(isRecord(entry) ? entry.platform : undefined));
  for (const wanted of platforms)
    if (!platformsOf.some((each) => matches(each, wanted)))
      throw missingPlatform(
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

async function requirePlatforms(
  source: ContentSource,
  image: Manifest,
  platforms: readonly string[],
  retry: RetryPolicy,
  signal: AbortSignal,
): Promise<void> {
  const [config] = image.blobs;
  if (config === undefined || config.size > maxConfigBytes) return;
  const platform = platformOf(parsedOrNothing(await readBlob({ source, blob: config, retry }, signal)));
  // A chart or a file has no platform to match.
  if (platform === undefined || platforms.every((wanted) => matches(platform, wanted))) return;
  const absent = platforms.find((wanted) => !matches(platform, wanted)) ?? '';
  throw missingPlatform(source, absent, [platform]);
}

function parsedOrNothing(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    // The config of an artifact that is not an image.
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
  // The base variant of arm64 is optional (containerd's normalisation).
  const own = platform[2] ?? (platform[1] === 'arm64' ? 'v8' : undefined);
  return platform[0] === os && platform[1] === architecture && (variant === undefined || variant === own);
}

function missingPlatform(source: ContentSource, wanted: string, found: readonly Platform[]): TransferError {
  const has = [...new Set(found.map((each) => each.join('/')))].slice(0, 20).join(', ') || 'none';
  return new TransferError(
    'permanent',
    `The image of ${source.place} has no platform ${wanted} (it has: ${has}): correct spec.platforms.`,
  );
}
