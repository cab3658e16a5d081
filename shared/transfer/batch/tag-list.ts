import { mapBounded } from '#shared/base/async';
import { readBlob } from '../content/blob-content.ts';
import { createdIn } from '../content/created.ts';
import { EmptySelectionError, TransferError } from '../errors/transfer-error.ts';
import { registrySource } from '../oci/registry-content.ts';
import type { Repository } from '../oci/repository.ts';
import type { TransferContext } from '../oci/session.ts';
import type { TagSelection } from './select-tags.ts';

/** Most images whose age is looked at. */
const maxTags = 1000;
const maxConfigBytes = 4 * 1024 * 1024;
const parallel = 4;

/**
 * The tags of a repository that fit `selection`, the highest version first, and warnings. Rejects with a TransferError if there are none, unless
 * an age is asked for: then there may be nothing new.
 *
 * @param isOneOfMany the repository was found by a pattern: it need not have any of the tags, nor all of `selection.names`
 */
export async function selectTags(
  repository: Repository,
  selection: TagSelection,
  context: TransferContext,
  isOneOfMany = false,
): Promise<{ tags: string[]; warnings: string[] }> {
  const { repository: name } = repository.address;
  // What reads versions is loaded for selections alone.
  const { matchingTags, newestTags } = await import('./select-tags.ts');
  const all = await repository.tags(context.signal, isOneOfMany);
  const names = isOneOfMany ? selection.names?.filter((tag) => all.includes(tag)) : selection.names;
  const matching = matchingTags(all, { ...selection, ...(names && { names }) }, name);
  const { tags, warnings } = await youngEnough(matching, selection, repository, context);
  const found = selection.newest === undefined ? tags : newestTags(tags, selection.newest);
  if (found.length === 0 && selection.maxAgeMs === undefined && !isOneOfMany)
    throw new EmptySelectionError(
      `None of the ${all.length} tags of ${name} in registry ${repository.address.host} fits spec.tags.`,
    );
  return { tags: found, warnings };
}

async function youngEnough(
  tags: readonly string[],
  { maxAgeMs }: TagSelection,
  repository: Repository,
  context: TransferContext,
): Promise<{ tags: string[]; warnings: string[] }> {
  if (maxAgeMs === undefined) return { tags: [...tags], warnings: [] };
  if (tags.length > maxTags)
    throw new TransferError(
      'permanent',
      `spec.tags.maxAge would have to look at ${tags.length} images, more than ${maxTags}: set match or semver too.`,
    );
  const since = Date.now() - maxAgeMs;
  const made = await mapBounded(tags, parallel, context.signal, (tag, signal) =>
    madeAt(repository, tag, { ...context, signal }),
  );
  const unknown = tags.filter((_, index) => made[index] === undefined);
  const warnings = unknown.map((tag) => `Tag ${tag} is left out: its image does not say when it was made`);
  return { tags: tags.filter((_, index) => (made[index] ?? 0) >= since), warnings };
}

/** The time in the config of an image, or of the first image of an index, in milliseconds since 1970. */
async function madeAt(
  repository: Repository,
  tag: string,
  context: TransferContext,
): Promise<number | undefined> {
  const { session, signal } = context;
  let manifest = await repository.manifest(tag, signal);
  const [first] = manifest?.children ?? [];
  if (first) manifest = await repository.manifest(first.digest, signal);
  const [config] = manifest?.blobs ?? [];
  if (!config || config.size > maxConfigBytes) return undefined;
  const reading = { source: registrySource(repository), blob: config, retry: session.retry };
  return createdIn(await readBlob(reading, signal));
}
