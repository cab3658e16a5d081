import type { Order } from '../kinds/order.ts';
import { annotations } from '../kinds/well-known.ts';
import { type Hold, isHoldReason } from '../lifecycle/holds.ts';
import { cut } from '../values/text.ts';

/**
 * Why ArtifactWorkflows of an Order could not be created, by their keys. decompose-order, which writes no status, records it in an annotation
 * of the Order; roll-up-order shows it.
 */
export type Refusals = Readonly<Record<string, Hold>>;

/** Only the first refusals are recorded. */
export const mostRefusals = 8;

/** Enough for the message of a quota: its name, the name of the object, and three times the resource. */
const longestNote = 500;

/** Returns the refusals recorded on an Order; none where the annotation is absent or not ours. */
export function refusalsOf({ metadata }: Order): Refusals {
  const found = parsed(metadata.annotations?.[annotations.refused]);
  const entries = Object.entries(found).flatMap(([key, value]): [string, Hold][] => {
    const { reason, message } = (value ?? {}) as Partial<Record<string, unknown>>;
    return typeof reason === 'string' && isHoldReason(reason) && typeof message === 'string'
      ? [[key, { reason, message: cut(message, longestNote) }]]
      : [];
  });
  return Object.fromEntries(entries.slice(0, mostRefusals));
}

/** Returns the value of the annotation for these refusals, null for none; undefined if the Order records the same already. */
export function refusalNote(order: Order, refusals: Refusals): string | null | undefined {
  const noted = refusalsOf(order);
  const wanted = Object.entries(refusals).slice(0, mostRefusals);
  // Messages are not compared: a message that differs each time would requeue the Order forever.
  const same = wanted.every(([key, { reason }]) => noted[key]?.reason === reason);
  if (same && wanted.length === Object.keys(noted).length) return undefined;
  const short = wanted.map(([key, { reason, message }]) => [
    key,
    { reason, message: cut(message, longestNote) },
  ]);
  return wanted.length === 0 ? null : JSON.stringify(Object.fromEntries(short));
}

/** Returns the hold of an artifact whose ArtifactWorkflow was refused. */
export function refusalFor(refusals: Refusals, key: string): Hold | undefined {
  const all = Object.values(refusals);
  return refusals[key] ?? (all.length === mostRefusals ? all[0] : undefined);
}

function parsed(text: string | undefined): object {
  try {
    const value: unknown = JSON.parse(text ?? '{}');
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
}
