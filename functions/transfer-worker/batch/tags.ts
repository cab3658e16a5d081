import { type Job, parseDuration } from '#shared/domain';
import { isRecord } from '#shared/meta';
import {
  formatReference,
  type ImageName,
  type Opening,
  parseImageName,
  selectTags,
  type TagSelection,
  TransferError,
} from '#shared/transfer';
import { connection } from '../ends/endpoint-kind.ts';
import { openSource } from '../ends/ends.ts';
import { landingName } from '../ends/oci.ts';
import type { Expansion } from './expansion.ts';

/** True for an artifact that is several tags of one repository. */
export function isTagBatch({ artifact }: Pick<Job, 'artifact'>): boolean {
  return artifact.spec.tags !== undefined && artifact.spec.chart === undefined;
}

/**
 * The images with the tags that `spec.tags` selects of the repository `spec.image`, each under its own tag at the destination. Rejects with a
 * TransferError.
 */
export async function expandTags(
  { artifact, source }: Omit<Job, 'destination'>,
  opening: Opening,
): Promise<Expansion> {
  const { tags: _, ...spec } = artifact.spec;
  const image = repositoryOf(spec.image, 'spec.image');
  const selection = selectionOf(artifact.spec.tags);
  const place = { ...connection(source), image: image.repository };
  const repository = opening.session.open(place, 'pull');
  const { tags, warnings } = await selectTags(repository, selection, opening);
  const override =
    spec.override === undefined || spec.override === ''
      ? undefined
      : repositoryOf(spec.override, 'spec.override');
  return {
    warnings,
    items: tags.map((tag) => {
      const name = { ...image, tag };
      const landing = landingName(
        { ...artifact, spec: override ? { override: override.repository } : {} },
        name,
      );
      const single = { ...artifact, spec: { ...spec, image: formatReference(name) } };
      return {
        source: formatReference(name),
        name: landing,
        open: async (itemOpening) => (await openSource({ artifact: single, source }, itemOpening)).source,
      };
    }),
  };
}

function config(text: string): TransferError {
  return new TransferError('config', text);
}

function repositoryOf(value: unknown, field: string): ImageName {
  if (typeof value !== 'string' || value === '')
    throw config(`${field} must be the name of a repository, such as "team/app".`);
  const name = parseImageName(value);
  if (name.tag === undefined && name.digest === undefined) return name;
  throw config(`${field} names a tag or a digest, beside spec.tags: leave it out of one of them.`);
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
