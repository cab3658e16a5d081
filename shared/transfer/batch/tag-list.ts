import { mapBounded } from '#shared/base/async';
import { readBlob } from '../content/blob-content.ts';
import { createdIn } from '../content/created.ts';
import { EmptySelectionError, TransferError } from '../errors/transfer-error.ts';
import { registrySource } from '../oci/registry-content.ts';
import type { Repository } from '../oci/repository.ts';
import type { TransferContext } from '../oci/session.ts';
import type { TagSelection } from './select-tags.ts';

/** Maximum number of images whose age is read. */
const maxTags = 1000;
const maxConfigBytes = 4 * 1024 * 1024;
const parallel = 4;

/**
 * Returns the tags that match `selection`, highest version first, and warnings. Rejects with a TransferError if no tag matches, unless the
 * selection has a maximum age: then there may be nothing new.
 *
 * @param isOneOfMany a pattern selected the repository, which may lack any or all of `selection.names`
 */
export async function selectTags(
  repository: Repository,
  selection: TagSelection,
  context: TransferContext,
  isOneOfMany = false,
): Promise<{ tags: string[]; warnings: string[] }> {
  const { repository: name } = repository.address;
  // Loaded on demand: most transfers select no versions.
  const { matchingTags, newestTags } = await import('./select-tags.ts');
  const all = await repository.tags(context.signal, isOneOfMany);
  const names = isOneOfMany ? selection.names?.filter((tag) => all.includes(tag)) : selection.names;
  const matching = matchingTags(all, { ...selection, ...(names && { names }) }, name);
  const { tags, warnings } = await filterByAge(matching, selection, repository, context);
  const found = selection.newest === undefined ? tags : newestTags(tags, selection.newest);
  if (found.length === 0 && selection.maxAgeMs === undefined && !isOneOfMany)
    throw new EmptySelectionError(
      `None of the ${all.length} tags of ${name} in registry ${repository.address.host} matches spec.tags.`,
    );
  return { tags: found, warnings };
}

async function filterByAge(
  tags: readonly string[],
  { maxAgeMs }: TagSelection,
  repository: Repository,
  context: TransferContext,
): Promise<{ tags: string[]; warnings: string[] }> {
  if (maxAgeMs === undefined) return { tags: [...tags], warnings: [] };
  if (tags.length > maxTags)
    throw new TransferError(
      'permanent',
      `spec.tags.maxAge would have to read ${tags.length} images, more than ${maxTags}: set match or semver as well.`,
    );
  const since = Date.now() - maxAgeMs;
  const made = await mapBounded(tags, parallel, context.signal, (tag, signal) =>
    creationTime(repository, tag, { ...context, signal }),
  );
  const unknown = tags.filter((_, index) => made[index] === undefined);
  const warnings = unknown.map((tag) => `Tag ${tag} is skipped: its image has no creation time`);
  return { tags: tags.filter((_, index) => (made[index] ?? 0) >= since), warnings };
}

/** The creation time of an image, or of the first image of an index, in milliseconds since the epoch. */
async function creationTime(
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
