import { pause } from '#shared/base/async';
import { ArcError } from '#shared/base/errors';
import { classifyFailure } from './failure.ts';
import { revisionOf } from './keyspace.ts';
import { compactionTransaction } from './transactions.ts';
import type { EtcdWire } from './wire.ts';

/** Whose turn it is (the version of the compaction key), and the revision the store was at by then. */
export interface Turn {
  version: number;
  revision: number;
}

/**
 * Compacts, every `interval` ms, to the revision of one interval ago, so that history is kept for one to two of them.
 * Any number of processes may run this, kube-apiserver's compactor included (same key, same rule): one of them gets
 * the turn, the others learn that it is taken. A failed turn is reported and the next one tried; ends with `signal`.
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

/** One turn: claims it, then compacts to the revision of the turn before, if there was one; see compactForever. */
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

/** Compacts. A store that is compacted that far already is not a failure. Rejects with Timeout for a future revision. */
export async function compactTo(wire: EtcdWire, revision: number, timeout: number): Promise<void> {
  try {
    await wire.compact({ revision }, timeout);
  } catch (caught) {
    const { error } = classifyFailure(caught);
    if (!ArcError.is(error, 'Expired')) throw error;
  }
}

/** Writes the key by which compactors take turns, and compacts nothing. */
export async function writeTurn(wire: EtcdWire, timeout: number): Promise<void> {
  const { version } = await takeTurn(wire, { version: 0, revision: 0 }, timeout);
  await takeTurn(wire, { version, revision: 0 }, timeout);
}
