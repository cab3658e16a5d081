import type { Command } from 'commander';
import { bytesText } from '#shared/base/errors';
import { isRecord } from '#shared/base/meta';
import {
  inSession,
  type Manifest,
  parseImageName,
  type Referrer,
  type Repository,
  registrySource,
  secretsOfEndpoint,
  TransferError,
} from '#shared/transfer';
import { connecting, type JobOptions, makePlace } from './job.ts';
import { optionsOf, print, type Terminal } from './terminal.ts';

interface LookOptions extends JobOptions {
  json?: boolean;
}

/** The parts of an artifact. */
interface Inspected {
  digest: string;
  mediaType: string;
  /** Total bytes that a copy would move, manifests included, referrers not. */
  bytes: number;
  /** The images of an index. */
  platforms: { platform: string; digest: string; bytes: number }[];
  /** Signatures, SBOMs and attestations. */
  referrers: { type: string; digest: string; tag?: string }[];
  warnings: string[];
}

/** Adds `inspect` and `tags`, which copy nothing. `secrets` collects values that must not be printed. */
export function addLookCommands(
  add: (command: Command) => void,
  make: (name: string) => Command,
  terminal: Terminal,
  secrets: string[],
): void {
  const inspecting = connecting(make('inspect'))
    .description('print digest, size, platforms and what refers to an artifact of a registry')
    .argument('<SRC>', 'host/path:tag or host/path@digest')
    .action((from: string, options: LookOptions) =>
      look(from, options, terminal, secrets, async (repository, _, signal) => {
        const found = await inspected(repository, signal);
        print(terminal, options.json, found, linesOf(found));
        return found;
      }),
    );
  const listing = connecting(make('tags'))
    .description('print the tags of a repository, one a line')
    .argument('<SRC>', 'host/path')
    .action((from: string, options: LookOptions) =>
      look(from, options, terminal, secrets, async (repository, name, signal) => {
        const { tag, digest } = parseImageName(name);
        if (tag !== undefined || digest !== undefined)
          throw new TransferError('config', `SRC "${from}" names one artifact: use only the repository.`);
        const tags = (await repository.tags(signal)).toSorted(byVersion);
        const result = { tags, warnings: [] };
        print(terminal, options.json, result, tags);
        return result;
      }),
    );
  add(inspecting);
  add(listing);
}

async function look(
  from: string,
  options: LookOptions,
  terminal: Terminal,
  secrets: string[],
  act: (repository: Repository, name: string, signal: AbortSignal) => Promise<{ warnings: string[] }>,
): Promise<void> {
  const { place, endpoint } = await makePlace(from, options, terminal.env);
  if (place.type !== 'oci' || place.name === undefined)
    throw new TransferError('config', `SRC "${from}" is not an artifact of a registry: use host/path.`);
  const { name, remoteURL, tls, credentials, redirectHosts } = endpoint;
  secrets.push(...secretsOfEndpoint(credentials));
  const image = place.name;
  await inSession(optionsOf(terminal), async ({ session, signal }) => {
    const location = {
      name,
      remoteURL,
      image,
      ...(tls && { tls }),
      ...(credentials && { credentials }),
      ...(redirectHosts && { redirectHosts }),
    };
    return act(session.repository(location, 'pull'), image, signal);
  });
}

async function inspected(repository: Repository, signal: AbortSignal): Promise<Inspected> {
  const source = registrySource(repository);
  const root = await source.root(signal);
  const warnings: string[] = [];
  const [parts, referrers] = await Promise.all([
    Promise.all(
      root.children.map(async (child) => {
        const manifest = await source.manifest(child.digest, signal, child.mediaType);
        if (!manifest) warnings.push(`${child.digest} is in the index, but not in the registry`);
        return { platform: platformOf(root, child.digest), digest: child.digest, bytes: sizeOf(manifest) };
      }),
    ),
    source.findReferrers(root, (text) => warnings.push(text), signal),
  ]);
  return {
    digest: root.digest,
    mediaType: root.mediaType,
    bytes: parts.reduce((sum, { bytes }) => sum + bytes, sizeOf(root)),
    platforms: parts,
    referrers: referrers.map(referrerOf),
    warnings,
  };
}

function sizeOf(manifest: Manifest | undefined): number {
  return (manifest?.blobs ?? []).reduce((sum, { size }) => sum + size, manifest?.bytes.length ?? 0);
}

/** `linux/arm64/v8` as in the index, or `unknown`. */
function platformOf({ bytes }: Manifest, digest: string): string {
  const parsed: unknown = JSON.parse(bytes.toString('utf8'));
  const entries =
    isRecord(parsed) && Array.isArray(parsed.manifests) ? parsed.manifests.filter(isRecord) : [];
  const { platform } = entries.find((entry) => entry.digest === digest) ?? {};
  if (!isRecord(platform)) return 'unknown';
  return [platform.os, platform.architecture, platform.variant].filter(Boolean).join('/');
}

function referrerOf({
  manifest: { descriptor, digest, mediaType },
  tag,
}: Referrer): Inspected['referrers'][number] {
  return { type: descriptor.artifactType ?? mediaType, digest, ...(tag !== undefined && { tag }) };
}

function linesOf({ digest, mediaType, bytes, platforms, referrers }: Inspected): string[] {
  return [
    digest,
    `${mediaType}, ${bytesText(bytes)}`,
    ...platforms.map((each) => `${each.platform.padEnd(16)} ${each.digest} ${bytesText(each.bytes)}`),
    ...referrers.map(({ type, digest: own, tag }) => `referrer ${type} ${own}${tag ? ` (tag ${tag})` : ''}`),
  ];
}

const collator = new Intl.Collator('en', { numeric: true });

/** 1.9 before 1.10. */
function byVersion(a: string, b: string): number {
  return collator.compare(a, b);
}
