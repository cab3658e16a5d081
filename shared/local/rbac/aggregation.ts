import type { Manifest } from './manifests.ts';
import { type PolicyRule, readAs, role } from './rules.ts';

/**
 * The rules of each ClusterRole by name. One with an aggregationRule has the rules of all ClusterRoles its selectors pick,
 * themselves aggregated, instead of its own.
 */
export function aggregatedRules(clusterRoles: readonly Manifest[]): Map<string, readonly PolicyRule[]> {
  const parsed = clusterRoles.map((one) => ({
    name: one.metadata.name,
    labels: one.metadata.labels ?? {},
    ...readAs(role, one),
  }));
  type Parsed = (typeof parsed)[number];

  const rulesOf = (one: Parsed, above: ReadonlySet<Parsed>): PolicyRule[] => {
    if (one.aggregationRule === undefined) return one.rules ?? [];
    const seen = new Set([...above, one]);
    const picked = parsed.filter(
      (other) =>
        !seen.has(other) &&
        one.aggregationRule?.clusterRoleSelectors.some(({ matchLabels }) =>
          Object.entries(matchLabels).every(([key, value]) => other.labels[key] === value),
        ),
    );
    return picked.flatMap((other) => rulesOf(other, seen));
  };
  return new Map(parsed.map((one) => [one.name, rulesOf(one, new Set())]));
}
