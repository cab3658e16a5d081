import { instantOf, ownerOfKind } from '#shared/base/meta';
import { type ArtifactWorkflow, keyOf, type Order, parseProgress, phaseOf } from '#shared/domain';

/** The throughput of one minute. */
export interface Minute {
  /** Start of the minute, in milliseconds since 1970. */
  atMs: number;
  bytes: number;
  /** Number of succeeded artifacts. */
  arrived: number;
}

/** Length of the history. */
export const shownMinutes = 60;
const minuteMs = 60_000;

/**
 * Returns the throughput of the last sixty minutes, the current one last, computed from Orders and ArtifactWorkflows without any recorded
 * history. The bytes of a transfer are spread evenly over its duration; those of a failed transfer are unknown. An ArtifactWorkflow that is
 * gone, which its TTL deletes, counts at its end with the bytes that the status of its Order still shows.
 */
export function throughputOf(
  orders: readonly Order[],
  children: readonly ArtifactWorkflow[],
  nowMs: number,
): Minute[] {
  const firstMs = (Math.floor(nowMs / minuteMs) - shownMinutes + 1) * minuteMs;
  const minutes = Array.from({ length: shownMinutes }, (_, index): Minute => {
    return { atMs: firstMs + index * minuteMs, bytes: 0, arrived: 0 };
  });
  const at = (ms: number) => Math.floor((ms - firstMs) / minuteMs);
  const transfers = children.flatMap((child) => transferOf(child, nowMs) ?? []);
  const all = [...transfers, ...transfersOfGone(orders, children, nowMs)];
  for (const { startMs, endMs, bytes, isOver } of all) {
    if (endMs < firstMs) continue;
    const arrival = minutes[at(endMs)];
    if (isOver && arrival) arrival.arrived += 1;
    for (let index = Math.max(0, at(startMs)); index <= at(endMs); index += 1) {
      const minute = minutes[index];
      if (minute) minute.bytes += bytes * shareOf(minute.atMs, startMs, endMs);
    }
  }
  return minutes.map((minute) => ({ ...minute, bytes: Math.round(minute.bytes) }));
}

interface Transfer {
  startMs: number;
  endMs: number;
  bytes: number;
  isOver: boolean;
}

function transferOf(child: ArtifactWorkflow, nowMs: number): Transfer | undefined {
  const { startTime, completionTime, progress, results } = child.status ?? {};
  const phase = phaseOf(child);
  const started = instantOf(startTime);
  if (started === undefined) return undefined;
  // Its times come from another clock: clamp them to now.
  const startMs = Math.min(started, nowMs);
  if (phase === 'Running')
    return { startMs, endMs: nowMs, bytes: parseProgress(progress)?.done ?? 0, isOver: false };
  const ended = instantOf(completionTime);
  if (phase !== 'Succeeded' || ended === undefined) return undefined;
  const endMs = Math.min(Math.max(startMs, ended), nowMs);
  return { startMs, endMs, bytes: results?.bytes?.copied ?? 0, isOver: true };
}

/** Returns the transfers whose ArtifactWorkflow is gone, from the entries of their Orders. */
function transfersOfGone(
  orders: readonly Order[],
  children: readonly ArtifactWorkflow[],
  nowMs: number,
): Transfer[] {
  const present = new Set(children.map((child) => `${ownerOfKind(child, 'Order')?.uid}/${keyOf(child)}`));
  return orders.flatMap(({ metadata, status }) =>
    Object.entries(status?.artifactWorkflows ?? {}).flatMap(([key, entry]) => {
      const ended = instantOf(entry.completionTime);
      if (entry.phase !== 'Succeeded' || ended === undefined || present.has(`${metadata.uid}/${key}`))
        return [];
      const endMs = Math.min(ended, nowMs);
      return [{ startMs: endMs, endMs, bytes: entry.bytesCopied ?? 0, isOver: true }];
    }),
  );
}

/** Returns the share of a transfer within the minute that starts at `atMs`. */
function shareOf(atMs: number, startMs: number, endMs: number): number {
  // Times are in whole seconds: a short transfer has no duration and counts at its start.
  if (endMs === startMs) return 1;
  const within = Math.min(endMs, atMs + minuteMs) - Math.max(startMs, atMs);
  return Math.max(0, within) / (endMs - startMs);
}
