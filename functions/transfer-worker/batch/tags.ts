import { mapBounded } from '#shared/base/async';
import { isRecord } from '#shared/base/meta';
import { type Job, type JobEndpoint, parseDuration } from '#shared/domain';
import {
  EmptySelectionError,
  formatReference,
  type ImageName,
  landingName,
  matchesGlob,
  parseImageName,
  selectTags,
  type TagSelection,
  type TransferContext,
  TransferError,
} from '#shared/transfer';
import { connection } from '../ends/endpoint-kind.ts';
import { openSource } from '../ends/ends.ts';
import type { Expansion, Found } from './expansion.ts';

/** True for an artifact with several tags of one or more repositories. */
export function isTagBatch({ artifact }: Pick<Job, 'artifact'>): boolean {
  return artifact.spec.tags !== undefined && artifact.spec.chart === undefined;
}

/** Maximum number of images that one artifact expands to. */
const maxItems = 1000;
const parallel = 3;
const maxQuoted = 10;

/**
 * Expands to the images selected by `spec.tags` in the repository `spec.image`, or in all repositories that match it as a pattern. Each image
 * keeps its own name and tag at the destination. Rejects with a TransferError.
 */
export async function expandTags(
  { artifact, source }: Omit<Job, 'destination'>,
  context: TransferContext,
): Promise<Expansion> {
  const { tags: _, override: _override, ...spec } = artifact.spec;
  const selection = selectionOf(artifact.spec.tags);
  const renamed = overrideOf(artifact.spec);
  const { names, pattern } = await repositoriesOf(artifact.spec.image, source, context);
  const selected = await mapBounded(names, parallel, context.signal, async (repository, signal) => {
    const client = context.session.repository({ ...connection(source), image: repository }, 'pull');
    return selectTags(client, selection, { ...context, signal }, pattern !== undefined);
  });
  const images = names.flatMap((repository, index) =>
    (selected[index]?.tags ?? []).map((tag): ImageName => ({ repository, tag })),
  );
  if (images.length > maxItems)
    throw config(
      `spec.image and spec.tags select ${images.length} images, more than ${maxItems}: set newest, or a narrower pattern.`,
    );
  const warnings = selected.flatMap((one) => one.warnings);
  if (pattern !== undefined) warnings.push(...withoutTags(pattern, names, images, selection));
  return { warnings, items: images.map(item) };

  function item(name: ImageName): Found {
    const single = { ...artifact, spec: { ...spec, image: formatReference(name) } };
    return {
      source: formatReference(name),
      name: landingName(renamed, name),
      open: async (itemOpening) => (await openSource({ artifact: single, source }, itemOpening)).source,
    };
  }
}

/** The repository `image`, or the repositories of the catalog that match it as a pattern. */
async function repositoriesOf(
  image: unknown,
  source: JobEndpoint,
  { session, signal }: TransferContext,
): Promise<{ names: string[]; pattern?: string }> {
  if (!isPattern(image)) return { names: [repositoryOf(image, 'spec.image')] };
  const all = await session.repositories(connection(source), signal);
  const names = all.filter((name) => matchesGlob(image, name)).toSorted();
  if (names.length > maxItems)
    throw config(`${names.length} repositories match spec.image "${image}", more than ${maxItems}.`);
  if (names.length > 0) return { names, pattern: image };
  throw new EmptySelectionError(
    `None of the ${all.length} repositories of Endpoint "${source.name}" matches spec.image "${image.slice(0, 300)}".`,
  );
}

/** Warns about repositories without a matching tag. Throws a TransferError if no repository has one, unless a maximum age is set. */
function withoutTags(
  pattern: string,
  names: readonly string[],
  images: readonly ImageName[],
  { maxAgeMs }: TagSelection,
): string[] {
  const having = new Set(images.map(({ repository }) => repository));
  const without = names.filter((name) => !having.has(name));
  const text = `${without.length} of the ${names.length} repositories that match "${pattern}" have no tag that matches spec.tags`;
  if (having.size === 0 && maxAgeMs === undefined) throw new EmptySelectionError(`${text}.`);
  return without.length === 0 ? [] : [`${text}: ${without.slice(0, maxQuoted).join(', ')}`];
}

function isPattern(image: unknown): image is string {
  return typeof image === 'string' && /[*?]/.test(image);
}

/** The repository at the destination; undefined if it keeps its name. */
function overrideOf({ image, override }: Job['artifact']['spec']): string | undefined {
  if (override === undefined || override === '') return undefined;
  if (!isPattern(image)) return repositoryOf(override, 'spec.override');
  throw config('spec.override names one repository, but spec.image is a pattern for several: remove it.');
}

function config(text: string): TransferError {
  return new TransferError('config', text);
}

function repositoryOf(value: unknown, field: string): string {
  if (typeof value !== 'string' || value === '')
    throw config(`${field} must be the name of a repository, such as "team/app".`);
  const name = parseImageName(value);
  if (name.tag === undefined && name.digest === undefined) return name.repository;
  throw config(`${field} names a tag or a digest in addition to spec.tags: remove one of them.`);
}

function selectionOf(tags: unknown): TagSelection {
  if (!isRecord(tags))
    throw config('spec.tags must be an object with at least one of names, match, semver, newest and maxAge.');
  const { names, match, semver, newest, maxAge, ...others } = tags;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined)
    throw config(
      `spec.tags.${unknown.slice(0, 100)} is not a field: use names, match, semver, newest or maxAge.`,
    );
  const isName = (name: unknown): name is string => typeof name === 'string' && name !== '';
  if (names !== undefined && !(Array.isArray(names) && names.every(isName)))
    throw config('spec.tags.names must be a list of tags.');
  if (newest !== undefined && !(typeof newest === 'number' && Number.isInteger(newest) && newest > 0))
    throw config('spec.tags.newest must be a whole number above 0.');
  const text = (value: unknown, field: string): string | undefined => {
    if (value === undefined || isName(value)) return value;
    throw config(`spec.tags.${field} must be a string.`);
  };
  const [pattern, range] = [text(match, 'match'), text(semver, 'semver')];
  const age = text(maxAge, 'maxAge');
  const ageMs = age === undefined ? undefined : parseDuration(age);
  if (age !== undefined && !(ageMs !== undefined && ageMs > 0))
    throw config('spec.tags.maxAge must be a duration such as "720h".');
  const selection = {
    ...(names === undefined ? {} : { names: names.filter(isName) }),
    ...(pattern === undefined ? {} : { match: pattern }),
    ...(range === undefined ? {} : { semver: range }),
    ...(typeof newest === 'number' ? { newest } : {}),
    ...(ageMs === undefined ? {} : { maxAgeMs: ageMs }),
  };
  if (Object.keys(selection).length === 0)
    throw config('spec.tags selects nothing: set names, match ("*" for all tags), semver, newest or maxAge.');
  return selection;
}
