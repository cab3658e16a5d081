import { type Duty, duties, hasDuties } from '#shared/domain';
import type { Observed } from '../view/kept.ts';
import type { ObservedView } from '../view/observed-view.ts';

/** Returns the duties of all objects in a view, or of those that `meant` accepts, by `<kind> <uid>`. */
export function dutiesIn(
  view: ObservedView,
  now: Date,
  isMeant: (object: Observed) => boolean = () => true,
): Record<string, Duty[]> {
  const objects = [...view.objects()].filter(hasDuties).filter(isMeant);
  const found = objects.map((object): [string, Duty[]] => [
    `${object.kind} ${object.metadata.uid}`,
    duties(view, object, now),
  ]);
  return Object.fromEntries(found.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
