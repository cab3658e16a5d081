import { pause } from '#shared/base/async';
import { ArcError } from '#shared/base/errors';
import { classifyFailure } from './failure.ts';
import { revisionOf } from './keyspace.ts';
import { compactionTransaction } from './transactions.ts';
import type { EtcdWire } from './wire.ts';

/** A compaction turn: the version of the compaction key, and the revision of the store at that time. */
export interface Turn {
  version: number;
  revision: number;
}

/**
 * Compacts every `interval` ms to the revision of one interval ago, so that history is kept for one to two intervals. Safe to run in several
 * processes, including kube-apiserver (same key and protocol): the transaction lets one process compact per interval. Reports failures and
 * retries in the next interval, until `signal` is aborted.
 */
export async function compactForever(
  wire: EtcdWire,
  interval: number,
  report: (error: ArcError) => void,
  signal: AbortSignal,
): Promise<void> {
  let turn: Turn = { version: 0, revision: 0 };
  for (;;) {
    await pause(interval, signal);
    if (signal.aborted) return;
    try {
      turn = await takeTurn(wire, turn, Math.min(interval, 10_000));
    } catch (caught) {
      if (!signal.aborted) report(classifyFailure(caught).error);
    }
  }
}

/** Claims a turn and compacts to the revision of the previous turn, if any; see compactForever. */
export async function takeTurn(wire: EtcdWire, { version, revision }: Turn, timeout: number): Promise<Turn> {
  const { succeeded, header, responses } = await wire.txn(compactionTransaction(version, revision), timeout);
  const now = revisionOf(header.revision);
  if (!succeeded) {
    const current = responses[0]?.response_range.kvs[0];
    return { version: current ? Number(current.version) : 0, revision: now };
  }
  if (revision > 0) await compactTo(wire, revision, timeout);
  return { version: version + 1, revision: now };
}

/** Compacts, unless the revision is compacted already. Rejects with Timeout for a future revision. */
export async function compactTo(wire: EtcdWire, revision: number, timeout: number): Promise<void> {
  try {
    await wire.compact({ revision }, timeout);
  } catch (caught) {
    const { error } = classifyFailure(caught);
    if (!ArcError.is(error, 'Expired')) throw error;
  }
}

/** Writes the compaction key without compacting. */
export async function writeTurn(wire: EtcdWire, timeout: number): Promise<void> {
  const { version } = await takeTurn(wire, { version: 0, revision: 0 }, timeout);
  await takeTurn(wire, { version, revision: 0 }, timeout);
}
