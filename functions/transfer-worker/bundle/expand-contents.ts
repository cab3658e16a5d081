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
import { type Content, config, mostContents, textOf } from './bundle-spec.ts';

type From = Omit<Job, 'destination'>;

interface Bounds {
  maxBytes?: number | undefined;
  known?: Map<string, Holding>;
  mayBeEmpty?: boolean;
}

/** What is called by a name, and the entry that it came by. */
export interface Holding {
  what: string;
  at: string;
}

/**
 * The artifacts that `contents` name: selected tags one by one, a chart after its images, a file as an artifact with one layer. Rejects with a
 * TransferError. `context` has to stay open while they are read.
 *
 * @param bounds.maxBytes what a file may have of which nobody tells size and digest
 * @param bounds.known what the bundle holds already, by the name that it has there; takes what is found
 * @param bounds.mayBeEmpty true where an entry may select nothing: by now, for a bundle that was made before
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
    if (items.length > mostContents)
      throw config(
        `${content.at}: the bundle would have more than ${mostContents} artifacts: make several of it.`,
      );
  }
  return { items, warnings };
}

/** Any type that is not known is a registry, so a server with files has to be told from one. */
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
    throw config(
      `${at}.override must say how the file is called on the other side, such as "tools/app:1.0".`,
    );
  const name = parseImageName(override);
  return {
    asked: text,
    open: async (context) => ({ source: fileContent(openFile(job, context), context, maxBytes), name }),
  };
}

/** What several charts need is in the bundle once: `known` says what is called by a name. */
function several(
  { text, at, spec }: Content,
  { items, last }: Expansion,
  known: Map<string, Holding>,
  mayBeEmpty: boolean,
): ExportItem[] {
  const found = [...items, ...(last ? [last] : [])];
  const added = found.filter(isNew);
  // The record names an entry with its artifacts: one that has none would look like one that was not asked for.
  if (added.length === 0 && !mayBeEmpty)
    throw config(
      `${at} selects nothing${found.length === 0 ? '' : ' that is not in the bundle already'}: leave it out.`,
    );
  return added.map(({ name, open }) => ({
    asked: text,
    open: async (context) => ({ source: await open(context), name }),
  }));

  function isNew({ source, name }: Found): boolean {
    const target = formatReference(name);
    // A part of an image is not the whole of it.
    const what = JSON.stringify([source, spec.platforms]);
    const held = known.get(target);
    if (held === undefined) {
      known.set(target, { what, at });
      return true;
    }
    if (held.what === what) return false;
    throw config(
      `${held.at} and ${at} put different things into the bundle as "${target}": give both the same platforms, or one of them an override or another bundle.`,
    );
  }
}
