import path from 'node:path';
import { type WakeReason, wakeReasonNames, wokenKinds } from '#shared/domain';
import { loadManifests, parseTriggers } from '#shared/embedded';
import { wakeType } from '#shared/events';
import { functions } from '../../../scripts/standalone/functions.ts';
import { matches } from '../../../shared/embedded/broker/filter.ts';

const triggers = parseTriggers(
  await loadManifests(path.resolve(import.meta.dirname, '../../../knative/base')),
);

/** It asks the servers themselves, and there are none here. What it finds moves nothing. */
const leftOut = 'probe-endpoint';

/** Which functions the Triggers of knative/base send a wake to, by `kind/reason`. */
const subscribers: ReadonlyMap<string, readonly string[]> = new Map(
  wokenKinds.flatMap((kind) =>
    wakeReasonNames.map((reason) => {
      const event = { type: wakeType, kind, reason };
      const wanted = triggers.filter(({ filters }) => filters.every((filter) => matches(filter, event)));
      const names = wanted.map(({ subscriber }) => subscriber.ref?.name ?? '');
      return [
        `${kind}/${reason}`,
        names.filter((name) => Object.hasOwn(functions, name) && name !== leftOut),
      ] as const;
    }),
  ),
);

/** The functions that are woken when an object of `kind` wakes for `reason`. */
export function subscribersOf(kind: string, reason: WakeReason): readonly string[] {
  return subscribers.get(`${kind}/${reason}`) ?? [];
}
