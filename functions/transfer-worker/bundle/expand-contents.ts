import type { Job } from '#shared/domain';
import {
  EmptySelectionError,
  type ExportItem,
  fileContent,
  formatReference,
  hasFiles,
  landingName,
  parseImageName,
  type TransferContext,
} from '#shared/transfer';
import { expansionOf } from '../batch/batch-of.ts';
import type { Expansion, Found } from '../batch/expansion.ts';
import { openSource } from '../ends/ends.ts';
import { openFile } from '../ends/files.ts';
import { type Content, config, maxContents, textOf } from './bundle-spec.ts';

type From = Omit<Job, 'destination'>;

interface Bounds {
  maxBytes?: number | undefined;
  known?: Map<string, Holding>;
  mayBeEmpty?: boolean;
}

/** The artifact behind a name in the bundle, and the entry that added it. */
export interface Holding {
  what: string;
  at: string;
}

/**
 * Expands `contents` into artifacts: selected tags one by one, a chart after its images, a file as an artifact with one layer. `context` must
 * stay open while they are read. Rejects with a TransferError.
 *
 * @param bounds.maxBytes limit for a file of unknown size or digest
 * @param bounds.known the artifacts in the bundle by name; extended by those found
 * @param bounds.mayBeEmpty true if an entry may select nothing, as may happen later to an existing bundle
 */
export async function expandContents(
  { artifact, source }: From,
  contents: readonly Content[],
  context: TransferContext,
  { maxBytes = Number.MAX_SAFE_INTEGER, known = new Map<string, Holding>(), mayBeEmpty = false }: Bounds = {},
): Promise<{ items: ExportItem[]; warnings: string[] }> {
  const items: ExportItem[] = [];
  const warnings: string[] = [];
  for (const content of contents) {
    const job = { artifact: { ...artifact, spec: content.spec }, source };
    const expand = content.spec.path === undefined ? expansionOf(job) : undefined;
    checkType(content, job);
    if (expand === undefined) items.push(single(content, job, maxBytes));
    else {
      const expansion = await expand(context).catch((caught: unknown): Expansion => {
        if (mayBeEmpty && caught instanceof EmptySelectionError) return { items: [], warnings: [] };
        throw caught;
      });
      warnings.push(...expansion.warnings);
      items.push(...several(content, expansion, known, mayBeEmpty));
    }
    if (items.length > maxContents)
      throw config(`${content.at}: the bundle would have more than ${maxContents} artifacts: split it.`);
  }
  return { items, warnings };
}

/** Rejects files of a registry, and images of a file server: an unknown type counts as a registry. */
function checkType({ at, spec }: Content, { source: { name, type } }: Pick<From, 'source'>): void {
  if (hasFiles({ type }) === (spec.path !== undefined)) return;
  const fix = spec.path === undefined ? 'name a file by path' : 'name an artifact by image or chart';
  throw config(`${at}: the source is Endpoint "${name}" of type "${type}": ${fix}.`);
}

function single({ text, at, spec }: Content, job: From, maxBytes: number): ExportItem {
  if (spec.path === undefined)
    return {
      asked: text,
      async open(context) {
        const opened = await openSource(job, context);
        return { source: opened.source, name: landingName(job.artifact.spec.override, opened.name) };
      },
    };
  const override = textOf(spec, 'override');
  if (override === undefined)
    throw config(`${at}.override must be the name of the file at the destination, such as "tools/app:1.0".`);
  const name = parseImageName(override);
  return {
    asked: text,
    open: async (context) => ({ source: fileContent(openFile(job, context), context, maxBytes), name }),
  };
}

/** Adds an expansion to the bundle, where artifacts shared by several charts occur once. */
function several(
  { text, at, spec }: Content,
  { items, last }: Expansion,
  known: Map<string, Holding>,
  mayBeEmpty: boolean,
): ExportItem[] {
  const found = [...items, ...(last ? [last] : [])];
  const added = found.filter(isNew);
  // The record lists entries by their artifacts, so an entry without any would look as if it had not been ordered.
  if (added.length === 0 && !mayBeEmpty)
    throw config(
      `${at} selects nothing${found.length === 0 ? '' : ' that is not in the bundle already'}: remove it.`,
    );
  return added.map(({ name, open }) => ({
    asked: text,
    open: async (context) => ({ source: await open(context), name }),
  }));

  function isNew({ source, name }: Found): boolean {
    const target = formatReference(name);
    // A subset of an image differs from the image.
    const what = JSON.stringify([source, spec.platforms]);
    const held = known.get(target);
    if (held === undefined) {
      known.set(target, { what, at });
      return true;
    }
    if (held.what === what) return false;
    throw config(
      `${held.at} and ${at} add different artifacts to the bundle as "${target}": give both the same platforms, or one of them an override or another bundle.`,
    );
  }
}
