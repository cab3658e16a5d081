import { eachBounded } from '#shared/base/async';
import type { FileFolder, ListedFile } from '../content/folder.ts';
import { copyFileEnds, type FileEnds } from '../copy/copy-file.ts';
import { type CopyResult, inSession, type RunOptions } from '../copy/in-session.ts';
import { abortError, EmptySelectionError, TransferError } from '../errors/transfer-error.ts';
import type { TransferContext } from '../oci/session.ts';
import { isSelected, type PathFilter } from '../reference/path-patterns.ts';
import { type BatchResult, batchFailure, batchItems, type ItemResult, sumCounts } from './copy-batch.ts';

/** Two folders and the files to copy between them. */
export interface FolderEnds {
  source: FileFolder;
  destination: FileFolder;
  filter: PathFilter;
  /** True: files that the source does not have are deleted from the destination, after everything was copied. */
  deletes: boolean;
  /** Opens both ends of one file. Rejects with a TransferError. */
  open(path: string): Promise<FileEnds>;
}

const parallel = 6;

/**
 * Copies the files of a folder that match the filter, several at a time, like `copyFile`: unchanged files are not sent. A failed file does not
 * stop the others. Files outside the filter are neither copied nor deleted. Rejects with a BatchError if a file failed, and with a
 * TransferError if no file matches; then nothing is deleted.
 */
export async function copyFolder(
  options: RunOptions,
  open: (context: TransferContext) => Promise<FolderEnds>,
): Promise<BatchResult> {
  const { result, failure, warnings } = await inSession(options, async (context) => {
    const ends = await open(context);
    const { source, filter } = ends;
    const all = await source.list(context.signal);
    const files = all.filter(({ path }) => isSelected(filter, path));
    if (files.length === 0)
      throw new EmptySelectionError(
        `None of the ${all.length} files in ${source.label} matches: check spec.path, include and exclude.`,
      );
    const run = new FolderRun(options, context, files);
    const broken = await eachBounded([...files.entries()], parallel, ([index, file]) =>
      run.copy(ends, file, index),
    );
    if (context.signal.aborted) throw abortError(context.signal);
    for (const { error } of broken) throw error;
    const failure = batchFailure(run.results);
    const mayDelete = ends.deletes && failure === undefined;
    const result = run.result(mayDelete ? await removeOthers(ends, files, context.signal) : 0);
    return { result, failure, warnings: result.warnings };
  });
  // Thrown outside of the session, which would replace it by an error without items.
  if (failure !== undefined) throw failure;
  // The warnings are bounded and masked now.
  return { ...result, warnings };
}

class FolderRun {
  readonly results: ItemResult[] = [];
  readonly #copies: CopyResult[] = [];
  readonly #options: RunOptions;
  readonly #context: TransferContext;
  readonly #progress: { done: number; total: number }[];

  constructor(options: RunOptions, context: TransferContext, files: readonly ListedFile[]) {
    this.#options = options;
    this.#context = context;
    this.#progress = files.map(({ size = 0 }) => ({ done: 0, total: size }));
  }

  async copy({ open }: FolderEnds, { path }: ListedFile, index: number): Promise<void> {
    const { session, signal } = this.#context;
    if (signal.aborted) return;
    const progress = (done: number, total: number) => this.#report(index, done, total);
    try {
      const copy = await copyFileEnds({ ...this.#options, progress }, await open(path), this.#context);
      const outcome = copy.blobs.existed > 0 ? 'unchanged' : 'copied';
      this.results[index] = { source: path, target: path, outcome, digest: copy.digest };
      this.#copies[index] = copy;
      const { done, total } = this.#progress[index] ?? { done: 0, total: 0 };
      this.#report(index, outcome === 'copied' ? total : done, outcome === 'copied' ? total : done);
    } catch (caught) {
      const explained = session.explain(caught, signal);
      if (!(explained instanceof TransferError)) throw caught;
      const { reason, message } = explained;
      this.results[index] = { source: path, target: path, outcome: 'failed', reason, message };
    }
  }

  #report(index: number, done: number, total: number): void {
    this.#progress[index] = { done, total };
    const sum = (of: 'done' | 'total') => this.#progress.reduce((all, each) => all + each[of], 0);
    this.#options.progress?.(sum('done'), sum('total'));
  }

  result(deleted: number): BatchResult {
    return {
      bytes: sumCounts(this.#copies.map(({ bytes }) => bytes)),
      blobs: sumCounts(this.#copies.map(({ blobs }) => blobs)),
      referrers: 0,
      warnings: [...new Set(this.#copies.flatMap(({ warnings }) => warnings))],
      items: { ...batchItems(this.results), ...(deleted > 0 && { deleted }) },
    };
  }
}

/** Deletes the files of the destination that match the filter and are not among `files`. Resolves with their number. */
async function removeOthers(
  { destination, filter }: FolderEnds,
  files: readonly ListedFile[],
  signal: AbortSignal,
): Promise<number> {
  const kept = new Set(files.map(({ path }) => path));
  const others = (await destination.list(signal)).filter(
    ({ path }) => !kept.has(path) && isSelected(filter, path),
  );
  const broken = await eachBounded(others, parallel, ({ path }) => destination.remove(path, signal));
  for (const { error } of broken) throw error;
  return others.length;
}
