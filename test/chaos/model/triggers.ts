import path from 'node:path';
import { stepEventType } from '#shared/conduit/events';
import { type Step, stepNames, steps } from '#shared/domain';
import { loadManifests, parseTriggers } from '#shared/local';
import { functions } from '../../../scripts/standalone/functions.ts';
import { matches } from '../../../shared/local/broker/filter.ts';

const triggers = parseTriggers(
  await loadManifests(path.resolve(import.meta.dirname, '../../../knative/base')),
);

/** It asks the servers themselves, and there are none here. What it finds moves nothing. */
const leftOut = 'probe-endpoint';

/** Which functions the Triggers of knative/base send a step event to, by `kind/step`. */
const subscribers: ReadonlyMap<string, readonly string[]> = new Map(
  stepNames.flatMap((step) =>
    steps[step].kinds.map((kind) => {
      const event = { type: stepEventType, kind, step };
      const wanted = triggers.filter(({ filters }) => filters.every((filter) => matches(filter, event)));
      const names = wanted.map(({ subscriber }) => subscriber.ref?.name ?? '');
      return [
        `${kind}/${step}`,
        names.filter((name) => Object.hasOwn(functions, name) && name !== leftOut),
      ] as const;
    }),
  ),
);

/** The functions that are called when a step is due for an object of `kind`. */
export function subscribersOf(kind: string, step: Step): readonly string[] {
  return subscribers.get(`${kind}/${step}`) ?? [];
}
