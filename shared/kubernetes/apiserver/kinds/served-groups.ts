import type { KindDefinition } from './definition.ts';
import { apiVersionOf } from './verbs.ts';

/** The kinds of one version of a group. */
export interface ServedVersion {
  group: string;
  version: string;
  /** `v1` or `group/version`. */
  groupVersion: string;
  kinds: readonly KindDefinition[];
}

/** A group with its versions in the order they were declared: the first is the preferred one. */
export interface ServedGroup {
  /** '' for core. */
  name: string;
  versions: readonly ServedVersion[];
}

/** Sorts definitions into groups and versions, both in the order of their first definition, kinds by plural name. */
export function catalogue(kinds: readonly KindDefinition[]): ServedGroup[] {
  return [...Map.groupBy(kinds, (kind) => kind.group)].map(([name, ofGroup]) => ({
    name,
    versions: [...Map.groupBy(ofGroup, (kind) => kind.version)].map(([version, ofVersion]) => ({
      group: name,
      version,
      groupVersion: apiVersionOf({ group: name, version }),
      kinds: ofVersion.toSorted((a, b) => (a.plural < b.plural ? -1 : 1)),
    })),
  }));
}
