import type { KindDefinition } from '#shared/kubernetes/apiserver';

/** The fields of admissionregistration.k8s.io/v1 RuleWithOperations that select writes. */
export interface Rule {
  apiGroups?: readonly string[];
  apiVersions?: readonly string[];
  resources?: readonly string[];
  resourceNames?: readonly string[];
  operations?: readonly string[];
  scope?: string;
}

/** admissionregistration.k8s.io/v1 MatchResources without its namespace and label selectors. */
export interface MatchResources {
  resourceRules?: readonly Rule[];
  excludeResourceRules?: readonly Rule[];
  matchPolicy?: string;
}

/** One operation on one of our resources, which a rule selects or does not. */
export interface Write {
  group: string;
  /** The version of the request, and all versions that serve the resource. */
  version: string;
  versions: readonly string[];
  resource: string;
  subresource: string;
  namespaced: boolean;
  operation: string;
}

/** Every write that the kinds allow. */
export function writesTo(kinds: readonly KindDefinition[]): Write[] {
  return kinds.flatMap(({ group, version, plural, scope, status, actions = [] }) => {
    const same = kinds.filter((other) => other.group === group && other.plural === plural);
    const resource = { group, version, versions: same.map((other) => other.version), resource: plural };
    const namespaced = scope === 'Namespaced';
    const whole = ['CREATE', 'UPDATE', 'DELETE'].map((operation) => ({ subresource: '', operation }));
    const part = [
      ...(status ? [{ subresource: 'status', operation: 'UPDATE' }] : []),
      ...actions.map(({ name }) => ({ subresource: name, operation: 'CREATE' })),
    ];
    return [...whole, ...part].map((write) => ({ ...resource, namespaced, ...write }));
  });
}

/**
 * True when a rule of a webhook selects the write. Namespace and label selectors, names and CEL conditions may exclude it
 * again; that depends on the object, so such a write counts as selected.
 */
export function selectedByRules(rules: readonly Rule[], write: Write, matchPolicy?: string): boolean {
  return rules.some((rule) => fits(rule, write, matchPolicy));
}

/** The same for a policy or its binding. Without rules it selects everything that it does not exclude. */
export function selectedByMatch(match: MatchResources, write: Write): boolean {
  const { resourceRules = [], excludeResourceRules = [], matchPolicy } = match;
  // An exclusion by name excludes only some objects.
  const whole = excludeResourceRules.filter(({ resourceNames = [] }) => resourceNames.length === 0);
  if (selectedByRules(whole, write, matchPolicy)) return false;
  return resourceRules.length === 0 || selectedByRules(resourceRules, write, matchPolicy);
}

function fits(rule: Rule, write: Write, matchPolicy = 'Equivalent'): boolean {
  const { apiGroups = [], apiVersions = [], resources = [], operations = [], scope = '*' } = rule;
  const has = (list: readonly string[], ...values: readonly string[]) =>
    list.includes('*') || values.some((value) => list.includes(value));
  // Equivalent: a rule for one version of a resource also applies to writes in any other version.
  const versions = matchPolicy === 'Exact' ? [write.version] : write.versions;
  return (
    has(apiGroups, write.group) &&
    has(apiVersions, ...versions) &&
    has(operations, write.operation) &&
    (scope === '*' || (scope === 'Namespaced') === write.namespaced) &&
    resources.some((pattern) => fitsResource(pattern, write))
  );
}

// `a`, `a/b`, `a/*`, `*/b`, `*/*`; `*` alone means no subresource.
function fitsResource(pattern: string, { resource, subresource }: Write): boolean {
  const [name = '', part = ''] = pattern.split('/');
  return (name === '*' || name === resource) && (part === '*' || part === subresource);
}
