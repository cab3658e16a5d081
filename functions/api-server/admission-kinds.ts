import type { KubeObject } from '#shared/base/meta';
import type { Kind } from '#shared/kubernetes/client';
import {
  type MatchResources,
  type Rule,
  selectedByMatch,
  selectedByRules,
  type Write,
} from './admission-rules.ts';

/** The fields of the kinds below that are read here. */
export interface Configured extends KubeObject {
  webhooks?: readonly { rules?: readonly Rule[]; matchPolicy?: string }[];
  spec?: {
    matchConstraints?: MatchResources;
    matchResources?: MatchResources;
    policyName?: string;
  };
}

/** What is stored of one such object. */
export interface Selection {
  name: string;
  /** The writes that its rules select. */
  selected: readonly Write[];
  /** For a binding: the policy that it puts into force. */
  policy: string | undefined;
}

const registration = (kind: string, plural: string, version = 'v1'): Kind<Configured> => ({
  apiVersion: `admissionregistration.k8s.io/${version}`,
  kind,
  plural,
  namespaced: false,
});

/** The kinds that kube-apiserver evaluates for writes. A cluster serves mutating policies in one of these versions or not at all. */
export const admissionKinds: readonly Kind<Configured>[] = [
  registration('MutatingWebhookConfiguration', 'mutatingwebhookconfigurations'),
  registration('ValidatingWebhookConfiguration', 'validatingwebhookconfigurations'),
  registration('ValidatingAdmissionPolicy', 'validatingadmissionpolicies'),
  registration('ValidatingAdmissionPolicyBinding', 'validatingadmissionpolicybindings'),
  ...['v1', 'v1beta1', 'v1alpha1'].flatMap((version) => [
    registration('MutatingAdmissionPolicy', 'mutatingadmissionpolicies', version),
    registration('MutatingAdmissionPolicyBinding', 'mutatingadmissionpolicybindings', version),
  ]),
];

/** Which of `writes` an object of these kinds selects. */
export function selectionOf(
  { metadata, webhooks = [], spec = {} }: Configured,
  writes: readonly Write[],
): Selection {
  const match =
    spec.matchConstraints ?? (spec.policyName === undefined ? undefined : (spec.matchResources ?? {}));
  return {
    name: metadata.name,
    policy: spec.policyName,
    selected: writes.filter(
      (write) =>
        webhooks.some(({ rules = [], matchPolicy }) => selectedByRules(rules, write, matchPolicy)) ||
        (match !== undefined && selectedByMatch(match, write)),
    ),
  };
}

/** The objects that kube-apiserver would evaluate for a write to our kinds, sorted by kind and name. `kept`: all selections by kind. */
export function inForce(kept: ReadonlyMap<string, readonly Selection[]>): { kind: string; name: string }[] {
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
