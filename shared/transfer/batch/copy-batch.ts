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

/** One artifact of many that are moved as one. */
export interface BatchItem {
  /** What is moved and where it lands, as the result names them. */
  source: string;
  target: string;
  open(context: TransferContext): Promise<Ends>;
}

export interface Batch {
  items: BatchItem[];
  /** Moved when all others have arrived, and not at all if one of them has not. */
  last?: BatchItem;
  warnings: string[];
}

/** How one item ended: it was copied, was there already, or failed. */
export interface ItemResult {
  source: string;
  target: string;
  outcome: 'copied' | 'unchanged' | 'failed';
  digest?: string;
  reason?: FailureReason;
  message?: string;
}

/** The items of a batch by how they ended, and the first of them, failures before others. */
export interface BatchItems {
  total: number;
  copied: number;
  unchanged: number;
  failed: number;
  /** Of a folder: files of the destination that its source no longer has, and that were deleted. */
  deleted?: number;
  list: ItemResult[];
}

/** The result of a batch. `digest` and `mediaType` are those of `Batch.last`. */
export interface BatchResult
  extends Omit<CopyResult, 'digest' | 'mediaType'>,
    Partial<Pick<CopyResult, 'digest' | 'mediaType'>> {
  items: BatchItems;
}

/** A batch of which at least one item failed; the others were moved. */
export class BatchError extends TransferError {
  readonly items: BatchItems;

  constructor(reason: FailureReason, message: string, items: BatchItems) {
    super(reason, message, { again: false });
    this.items = items;
  }
}

const parallel = 3;
const mostListed = 20;
const mostQuoted = 3;
const longestMessage = 300;
/** Bytes of manifests that are kept from the plans until the copies: items beyond them are read twice. */
const mostPlanned = 32 * 1024 * 1024;

/**
 * Moves the artifacts that `expand` finds, some at a time, in one session. One that fails stops none of the others, and a blob that several
 * of them have is sent to a place once. It is safe to repeat, and what is there already costs some small requests. Rejects with a BatchError if
 * an item failed, and with a TransferError if there are no items to be found; `options.maxBytes` is for each item.
 */
export async function copyBatch(
  options: CopyOptions,
  expand: (context: TransferContext) => Promise<Batch>,
): Promise<BatchResult> {
  const { result, warnings, failure } = await inSession(options, async (context) => {
    const { items, last, warnings: found } = await expand(context);
    const run = new Run(options, context);
    const each = async (
      some: readonly BatchItem[],
      act: (item: BatchItem, index: number) => Promise<unknown>,
    ) => {
      const broken = await eachBounded([...some.entries()], parallel, async ([index, item]) => {
        await act(item, index);
      });
      if (context.signal.aborted) throw abortError(context.signal);
      // Not a failed transfer, but a mistake of this program.
      for (const { error } of broken) throw error;
    };
    // All of them before the first is copied: how many bytes there are is known from the first one on.
    await each(last ? [...items, last] : items, (item, index) => run.plan(item, index));
    run.report();
    await each(items, (item, index) => run.copy(item, index));
    if (last) await run.copyLast(last, items.length);
    const result = run.result(found);
    return { result, warnings: result.warnings, failure: run.failure() };
  });
  if (failure) throw failure;
  // Bounded and masked by now.
  return { ...result, warnings };
}

/** The bytes of one item: sent, and to be sent in all. */
interface Tally {
  done: number;
  total: number;
}

class Run {
  readonly #options: CopyOptions;
  readonly #context: TransferContext;
  readonly #claims = createBlobClaims();
  readonly #results: ItemResult[] = [];
  readonly #copies: CopyResult[] = [];
  readonly #opened: { ends: Ends; context: TransferContext; plan: CopyPlan | undefined }[] = [];
  readonly #tallies: Tally[] = [];
  #planned = 0;
  #last: CopyResult | undefined;

  constructor(options: CopyOptions, context: TransferContext) {
    this.#options = options;
    this.#context = context;
  }

  /** Opens one item and reads what there is to copy. */
  async plan(item: BatchItem, index: number): Promise<void> {
    await this.#trying(item, index, async () => {
      // Two items may have the same blob: each keeps it in a folder of its own.
      const folder = path.join(this.#context.folder, String(index));
      await mkdir(folder, { recursive: true });
      const context = { ...this.#context, folder };
      const ends = await item.open(context);
      const plan = await planCopy(ends.source, context.signal);
      this.#planned += plan.manifests.reduce((sum, { bytes }) => sum + bytes.length, 0);
      this.#opened[index] = { ends, context, plan: this.#planned > mostPlanned ? undefined : plan };
      this.#tallies[index] = { done: 0, total: bytesOf(plan) };
    });
  }

  /** Copies one item that was planned; a failure becomes its result. */
  async copy(item: BatchItem, index: number): Promise<CopyResult | undefined> {
    return this.#trying(item, index, async () => {
      const { source, target } = item;
      const { copy, written } = await this.#moved(index);
      const outcome = written ? 'copied' : 'unchanged';
      this.#results[index] = { source, target, outcome, digest: copy.digest };
      this.#copies.push(copy);
      return copy;
    });
  }

  async #trying<T>(
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
      // What is not sent any more is not waited for.
      const { done } = this.#tallies[index] ?? { done: 0 };
      this.#tallies[index] = { done, total: done };
      return undefined;
    }
  }

  /** Copies one item; `written`: a manifest, tag or blob of it was not there before. */
  async #moved(index: number): Promise<{ copy: CopyResult; written: boolean }> {
    const opened = this.#opened[index];
    if (opened === undefined) throw new Error(`item ${index} was not planned`);
    const { ends, context, plan } = opened;
    delete this.#opened[index];
    const { sink, release } = this.#claims.guard(ends.destination);
    let written = false;
    const watched: ContentSink = {
      ...sink,
      putManifest(...manifest) {
        written = true;
        return sink.putManifest(...manifest);
      },
    };
    const progress = (done: number, total: number): void => {
      this.#tallies[index] = { done, total };
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
    const message = `It was not moved, because ${missing} of the artifacts it needs were not.`;
    const reason = this.#results.some((one) => one.reason === 'retryable') ? 'retryable' : 'permanent';
    this.#results[index] = { source, target, outcome: 'failed', reason, message };
  }

  /** Reports what all items have come to. */
  report(): void {
    const sum = (of: keyof Tally) => this.#tallies.reduce((total, each) => total + each[of], 0);
    this.#options.progress?.(sum('done'), sum('total'));
  }

  result(warnings: readonly string[]): BatchResult {
    const { digest, mediaType } = this.#last ?? {};
    const repaired = this.#copies.flatMap((copy) => copy.repaired ?? []);
    return {
      ...(digest === undefined ? {} : { digest }),
      ...(mediaType === undefined ? {} : { mediaType }),
      bytes: summed(this.#copies.map(({ bytes }) => bytes)),
      blobs: summed(this.#copies.map(({ blobs }) => blobs)),
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

/** How the items of a batch ended, in bounds. */
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
    list: failedFirst.slice(0, mostListed).map(bounded),
  };
}

/** The failure of a batch; undefined if none of its items failed. */
export function batchFailure(results: readonly ItemResult[]): BatchError | undefined {
  const failed = results.filter(({ outcome }) => outcome === 'failed');
  if (failed.length === 0) return undefined;
  const quoted = failed
    .slice(0, mostQuoted)
    .map(bounded)
    .map(({ source, message }) => `${source}: ${message}`);
  const more = failed.length - quoted.length;
  const reason = failed.some((one) => one.reason === 'retryable')
    ? 'retryable'
    : (failed[0]?.reason ?? 'permanent');
  const text = `${failed.length} of ${results.length} artifacts were not moved. ${quoted.join(' ')}${more > 0 ? ` And ${more} more.` : ''}`;
  return new BatchError(reason, text, batchItems(results));
}

export function summed(counts: readonly Counts[]): Counts {
  const sum = (name: keyof Counts) => counts.reduce((total, each) => total + each[name], 0);
  return { copied: sum('copied'), existed: sum('existed'), mounted: sum('mounted') };
}

function bounded(item: ItemResult): ItemResult {
  const { message = '' } = item;
  return message.length <= longestMessage
    ? item
    : { ...item, message: `${message.slice(0, longestMessage - 1)}…` };
}
