import type { KubeObject } from '#shared/base/meta';
import {
  type ArtifactWorkflow,
  type Duty,
  duties,
  type Endpoint,
  isDutyKind,
  type Order,
} from '#shared/domain';
import type { ObservedView } from '../view/observed-view.ts';

/** Returns the duties of all objects in a view, or of those that `meant` accepts, by `<kind> <uid>`. */
export function dutiesIn(
  view: ObservedView,
  now: Date,
  isMeant: (object: KubeObject) => boolean = () => true,
): Record<string, Duty[]> {
  const objects = [...view.objects()].filter((object) => isDutyKind(object.kind) && isMeant(object));
  const found = objects.map((object): [string, Duty[]] => [
    `${object.kind} ${object.metadata.uid}`,
    duties(view, object as unknown as Order | ArtifactWorkflow | Endpoint, now),
  ]);
  return Object.fromEntries(found.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
