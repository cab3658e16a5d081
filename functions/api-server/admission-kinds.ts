import type { Kind, Resource } from '#shared/kube';
import {
  type MatchResources,
  type Rule,
  selectedByMatch,
  selectedByRules,
  type Write,
} from './admission-rules.ts';

/** Any of the kinds below, as far as we read it. */
export interface Configured extends Resource {
  webhooks?: readonly { rules?: readonly Rule[]; matchPolicy?: string }[];
  spec?: {
    matchConstraints?: MatchResources;
    matchResources?: MatchResources;
    policyName?: string;
    hard?: Record<string, string>;
  };
}

/** What is remembered of one. */
export interface Kept {
  name: string;
  /** The writes that it selects. */
  selected: readonly Write[];
  /** The policy that a binding puts into force. */
  policy: string | undefined;
}

const registration = (kind: string, plural: string, version = 'v1'): Kind<Configured> => ({
  apiVersion: `admissionregistration.k8s.io/${version}`,
  kind,
  plural,
  namespaced: false,
});

/** What kube-apiserver asks about writes. Policies that mutate are young: a cluster has them in one version or in none. */
export const admissionKinds: readonly Kind<Configured>[] = [
  registration('MutatingWebhookConfiguration', 'mutatingwebhookconfigurations'),
  registration('ValidatingWebhookConfiguration', 'validatingwebhookconfigurations'),
  registration('ValidatingAdmissionPolicy', 'validatingadmissionpolicies'),
  registration('ValidatingAdmissionPolicyBinding', 'validatingadmissionpolicybindings'),
  ...['v1', 'v1beta1', 'v1alpha1'].flatMap((version) => [
    registration('MutatingAdmissionPolicy', 'mutatingadmissionpolicies', version),
    registration('MutatingAdmissionPolicyBinding', 'mutatingadmissionpolicybindings', version),
  ]),
  { apiVersion: 'v1', kind: 'ResourceQuota', plural: 'resourcequotas', namespaced: true },
];

/** What an object of these kinds says about `writes`. */
export function keep({ metadata, webhooks = [], spec = {} }: Configured, writes: readonly Write[]): Kept {
  const { name, namespace } = metadata;
  const match =
    spec.matchConstraints ?? (spec.policyName === undefined ? undefined : (spec.matchResources ?? {}));
  const limited = Object.keys(spec.hard ?? {});
  return {
    name: namespace === undefined ? name : `${namespace}/${name}`,
    policy: spec.policyName,
    selected: writes.filter(
      (write) =>
        webhooks.some(({ rules = [], matchPolicy }) => selectedByRules(rules, write, matchPolicy)) ||
        (match !== undefined && selectedByMatch(match, write)) ||
        (write.operation === 'CREATE' && limited.includes(`count/${write.resource}.${write.group}`)),
    ),
  };
}

/** Of all that is kept by kind: what would be asked about a write to us, as `<kind> "<name>"`, sorted. */
export function inForce(kept: ReadonlyMap<string, readonly Kept[]>): { kind: string; name: string }[] {
  const found: { kind: string; name: string }[] = [];
  for (const [kind, all] of kept) {
    if (kind.endsWith('Binding')) continue;
    const bindings = kind.endsWith('Policy') ? (kept.get(`${kind}Binding`) ?? []) : undefined;
    for (const { name, selected } of all) {
      const isBound = bindings?.some(
        ({ policy, selected: bound }) => policy === name && bound.some((write) => selected.includes(write)),
      );
      if (selected.length > 0 && isBound !== false) found.push({ kind, name });
    }
  }
  return found.sort((a, b) => (`${a.kind} ${a.name}` < `${b.kind} ${b.name}` ? -1 : 1));
}
