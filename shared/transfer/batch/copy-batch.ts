import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { eachBounded } from '#shared/base/async';
import { type CopyOptions, copyEnds, type Ends } from '../artifact/copy-artifact.ts';
import type { ContentSink } from '../content/content.ts';
import { bytesOf, type CopyPlan, planCopy } from '../content/plan.ts';
import type { Counts } from '../copy/copy-progress.ts';
import { type CopyResult, inSession } from '../copy/in-session.ts';
import { abortError, type FailureReason, TransferError } from '../errors/transfer-error.ts';
import type { TransferContext } from '../oci/session.ts';
import { createBlobClaims } from './blob-claims.ts';

/** One artifact of a batch. */
export interface BatchItem {
  /** Names of source and target in the result. */
  source: string;
  target: string;
  open(context: TransferContext): Promise<Ends>;
}

export interface Batch {
  items: BatchItem[];
  /** Copied after all other items, and only if all of them succeeded. */
  last?: BatchItem;
  warnings: string[];
}

/** The outcome of one item: copied, unchanged because the destination had it, or failed. */
export interface ItemResult {
  source: string;
  target: string;
  outcome: 'copied' | 'unchanged' | 'failed';
  digest?: string;
  reason?: FailureReason;
  message?: string;
}

/** Counts of the items by outcome, and the first items, failures first. */
export interface BatchItems {
  total: number;
  copied: number;
  unchanged: number;
  failed: number;
  /** Of a folder: deleted files of the destination that the source does not have. */
  deleted?: number;
  list: ItemResult[];
}

/** The result of a batch. `digest` and `mediaType` are those of `Batch.last`. */
export interface BatchResult
  extends Omit<CopyResult, 'digest' | 'mediaType'>,
    Partial<Pick<CopyResult, 'digest' | 'mediaType'>> {
  items: BatchItems;
}

/** A batch with at least one failed item; the others were copied. */
export class BatchError extends TransferError {
  readonly items: BatchItems;

  constructor(reason: FailureReason, message: string, items: BatchItems) {
    super(reason, message, { again: false });
    this.items = items;
  }
}

const parallel = 3;
const maxListed = 20;
const maxQuoted = 3;
const maxMessageLength = 300;
/** Bytes of manifests that are kept between planning and copying; the manifests of further items are read twice. */
const maxPlannedBytes = 32 * 1024 * 1024;

/**
 * Copies the artifacts returned by `expand`, several at a time, in one session. A failed item does not stop the others, and a blob of several
 * items is sent to a repository once. Idempotent; an unchanged item costs a few small requests. Rejects with a BatchError if an item failed,
 * and with a TransferError if `expand` fails; `options.maxBytes` applies to each item.
 */
export async function copyBatch(
  options: CopyOptions,
  expand: (context: TransferContext) => Promise<Batch>,
): Promise<BatchResult> {
  const { result, warnings, failure } = await inSession(options, async (context) => {
    const { items, last, warnings: found } = await expand(context);
    const run = new BatchRun(options, context);
    const each = async (
      some: readonly BatchItem[],
      act: (item: BatchItem, index: number) => Promise<unknown>,
    ) => {
      const broken = await eachBounded([...some.entries()], parallel, async ([index, item]) => {
        await act(item, index);
      });
      if (context.signal.aborted) throw abortError(context.signal);
      // Not a failed transfer, but a bug in this program.
      for (const { error } of broken) throw error;
    };
    // Plan everything first, so that the total number of bytes is known before the first copy.
    await each(last ? [...items, last] : items, (item, index) => run.plan(item, index));
    run.report();
    await each(items, (item, index) => run.copy(item, index));
    if (last) await run.copyLast(last, items.length);
    const result = run.result(found);
    return { result, warnings: result.warnings, failure: run.failure() };
  });
  if (failure) throw failure;
  // The warnings are bounded and masked now.
  return { ...result, warnings };
}

/** Progress of one item in bytes. */
interface ItemProgress {
  done: number;
  total: number;
}

class BatchRun {
  readonly #options: CopyOptions;
  readonly #context: TransferContext;
  readonly #claims = createBlobClaims();
  readonly #results: ItemResult[] = [];
  readonly #copies: CopyResult[] = [];
  readonly #opened: { ends: Ends; context: TransferContext; plan: CopyPlan | undefined }[] = [];
  readonly #progress: ItemProgress[] = [];
  #planned = 0;
  #last: CopyResult | undefined;

  constructor(options: CopyOptions, context: TransferContext) {
    this.#options = options;
    this.#context = context;
  }

  /** Opens one item and reads its plan. */
  async plan(item: BatchItem, index: number): Promise<void> {
    await this.#recordFailure(item, index, async () => {
      // Two items may spool the same blob, so each has its own folder.
      const folder = path.join(this.#context.folder, String(index));
      await mkdir(folder, { recursive: true });
      const context = { ...this.#context, folder };
      const ends = await item.open(context);
      const plan = await planCopy(ends.source, context.signal);
      this.#planned += plan.manifests.reduce((sum, { bytes }) => sum + bytes.length, 0);
      this.#opened[index] = { ends, context, plan: this.#planned > maxPlannedBytes ? undefined : plan };
      this.#progress[index] = { done: 0, total: bytesOf(plan) };
    });
  }

  /** Copies one planned item; a failure becomes its result. */
  async copy(item: BatchItem, index: number): Promise<CopyResult | undefined> {
    return this.#recordFailure(item, index, async () => {
      const { source, target } = item;
      const { copy, written } = await this.#copyPlanned(index);
      const outcome = written ? 'copied' : 'unchanged';
      this.#results[index] = { source, target, outcome, digest: copy.digest };
      this.#copies.push(copy);
      return copy;
    });
  }

  async #recordFailure<T>(
    { source, target }: BatchItem,
    index: number,
    act: () => Promise<T>,
  ): Promise<T | undefined> {
    const { session, signal } = this.#context;
    if (signal.aborted || this.#results[index] !== undefined) return undefined;
    try {
      return await act();
    } catch (caught) {
      const explained = session.explain(caught, signal);
      if (!(explained instanceof TransferError)) throw caught;
      const { reason, message } = explained;
      this.#results[index] = { source, target, outcome: 'failed', reason, message };
      // The remaining bytes leave the total.
      const { done } = this.#progress[index] ?? { done: 0 };
      this.#progress[index] = { done, total: done };
      return undefined;
    }
  }

  /** Copies one item; `written` is true if a manifest, tag or blob was new at the destination. */
  async #copyPlanned(index: number): Promise<{ copy: CopyResult; written: boolean }> {
    const opened = this.#opened[index];
    if (opened === undefined) throw new Error(`item ${index} was not planned`);
    const { ends, context, plan } = opened;
    delete this.#opened[index];
    const { sink, release } = this.#claims.claimFor(ends.destination);
    let written = false;
    const watched: ContentSink = {
      ...sink,
      putManifest(...manifest) {
        written = true;
        return sink.putManifest(...manifest);
      },
    };
    const progress = (done: number, total: number): void => {
      this.#progress[index] = { done, total };
      this.report();
    };
    try {
      const watchedEnds = { source: ends.source, destination: watched };
      const copy = await copyEnds({ ...this.#options, progress }, watchedEnds, context, plan);
      const { copied, mounted } = copy.blobs;
      return { copy, written: written || copied + mounted > 0 };
    } finally {
      release();
    }
  }

  async copyLast(item: BatchItem, index: number): Promise<void> {
    const missing = this.#results.filter(({ outcome }) => outcome === 'failed').length;
    if (missing === 0) {
      this.#last = await this.copy(item, index);
      return;
    }
    const { source, target } = item;
    const message = `It was not moved, because ${missing} of the artifacts that it refers to were not moved.`;
    const reason = this.#results.some((item) => item.reason === 'retryable') ? 'retryable' : 'permanent';
    this.#results[index] = { source, target, outcome: 'failed', reason, message };
  }

  /** Reports the progress of all items together. */
  report(): void {
    const sum = (of: keyof ItemProgress) => this.#progress.reduce((total, each) => total + each[of], 0);
    this.#options.progress?.(sum('done'), sum('total'));
  }

  result(warnings: readonly string[]): BatchResult {
    const { digest, mediaType } = this.#last ?? {};
    const repaired = this.#copies.flatMap((copy) => copy.repaired ?? []);
    return {
      ...(digest === undefined ? {} : { digest }),
      ...(mediaType === undefined ? {} : { mediaType }),
      bytes: sumCounts(this.#copies.map(({ bytes }) => bytes)),
      blobs: sumCounts(this.#copies.map(({ blobs }) => blobs)),
      referrers: this.#copies.reduce((sum, { referrers }) => sum + referrers, 0),
      ...(repaired.length > 0 && {
        repaired: {
          manifests: repaired.reduce((sum, { manifests }) => sum + manifests, 0),
          blobs: repaired.reduce((sum, { blobs }) => sum + blobs, 0),
        },
      }),
      warnings: [...warnings, ...this.#copies.flatMap((copy) => copy.warnings)],
      items: batchItems(this.#results),
    };
  }

  failure(): BatchError | undefined {
    return batchFailure(this.#results);
  }
}

/** Summarises the items of a batch, with a bounded list. */
export function batchItems(results: readonly ItemResult[]): BatchItems {
  const count = (wanted: ItemResult['outcome']) => results.filter(({ outcome }) => outcome === wanted).length;
  const failedFirst = results.toSorted(
    (a, b) => Number(b.outcome === 'failed') - Number(a.outcome === 'failed'),
  );
  return {
    total: results.length,
    copied: count('copied'),
    unchanged: count('unchanged'),
    failed: count('failed'),
    list: failedFirst.slice(0, maxListed).map(bounded),
  };
}

/** The failure of a batch; undefined if none of its items failed. */
export function batchFailure(results: readonly ItemResult[]): BatchError | undefined {
  const failed = results.filter(({ outcome }) => outcome === 'failed');
  if (failed.length === 0) return undefined;
  const quoted = failed
    .slice(0, maxQuoted)
    .map(bounded)
    .map(({ source, message }) => `${source}: ${message}`);
  const more = failed.length - quoted.length;
  const reason = failed.some((item) => item.reason === 'retryable')
    ? 'retryable'
    : (failed[0]?.reason ?? 'permanent');
  const text = `${failed.length} of ${results.length} artifacts were not moved. ${quoted.join(' ')}${more > 0 ? ` And ${more} more.` : ''}`;
  return new BatchError(reason, text, batchItems(results));
}

export function sumCounts(counts: readonly Counts[]): Counts {
  const sum = (name: keyof Counts) => counts.reduce((total, each) => total + each[name], 0);
  return { copied: sum('copied'), existed: sum('existed'), mounted: sum('mounted') };
}

function bounded(item: ItemResult): ItemResult {
  const { message = '' } = item;
  return message.length <= maxMessageLength
    ? item
    : { ...item, message: `${message.slice(0, maxMessageLength - 1)}…` };
}
