import type { ArtifactType } from '../kinds/artifact-type.ts';
import type { Endpoint } from '../kinds/endpoint.ts';
import { conduitNamespace } from '../kinds/refs.ts';
import { annotations, policyParameter } from '../kinds/well-known.ts';
import type { Hold } from '../lifecycle/holds.ts';

import { type Settings, settingsName } from '../settings/settings.ts';
import { textDigest } from '../values/hash.ts';
import { typesByName } from './templates.ts';

/**
 * A policy that binds a place: that of the destination Endpoint (`policyRef`), or one that the operator enforces (`enforced.policy`). All of
 * them and the policy of the artifact's type must hold, so no choice of type removes a policy.
 */
export interface EnforcedPolicy {
  /** The enforcing object or setting, for people. */
  from: string;
  /** JSON, as in a type (`parsePolicy`). */
  text: string;
  digest: string;
}

/** `hold`: an enforced policy does not exist, so nothing may be transferred. */
export interface Enforcement {
  policies: readonly EnforcedPolicy[];
  hold?: Hold;
}

export interface EnforcementInputs {
  namespace: string | undefined;
  /** Absent if it does not exist, and for an ArtifactWorkflow made by hand that names none. */
  destination: Endpoint | undefined;
  /** Types of the namespace and of the cluster; types that are not named are ignored. */
  types: readonly ArtifactType[];
  settings: Settings;
}

/** Returns the policies that bind every transfer to a destination. */
export function enforcementOn({ namespace, destination, types, settings }: EnforcementInputs): Enforcement {
  const ofEndpoint = destination?.spec.policyRef?.name;
  const found = [
    ...(destination === undefined || ofEndpoint === undefined
      ? []
      : [
          policyOfType(typesByName(types).get(ofEndpoint), {
            from: `Endpoint "${destination.metadata.name}"`,
            field: 'spec.policyRef',
            name: ofEndpoint,
            kind: 'ArtifactType or ClusterArtifactType',
          }),
        ]),
    ...enforcedTypes(namespace, settings).map((name) =>
      // A type of the namespace does not shadow it: the setting names a type of the cluster.
      policyOfType(
        types.find(({ kind, metadata }) => kind === 'ClusterArtifactType' && metadata.name === name),
        { ...ofSetting, name },
      ),
    ),
  ];
  const hold = found.map((one) => ('hold' in one ? one.hold : undefined)).find((one) => one !== undefined);
  const policies = found.flatMap((one) => ('hold' in one ? [] : [one]));
  return { policies, ...(hold && { hold }) };
}

/** Returns the types whose policies bind transfers from a namespace to one of the Endpoints, by name. */
export function policyTypes(
  namespace: string | undefined,
  endpoints: readonly Endpoint[],
  settings: Settings,
): string[] {
  const named = endpoints.flatMap(({ spec }) => spec.policyRef?.name ?? []);
  return [...new Set([...named, ...enforcedTypes(namespace, settings)])];
}

/** Returns the ClusterArtifactTypes that the operator enforces in a namespace. */
export function enforcedTypes(namespace: string | undefined, settings: Settings): string[] {
  const all = settings['enforced.policy'] ?? [];
  const here = all.filter((one) => one.namespace === undefined || one.namespace === namespace);
  return [...new Set(here.map(({ type }) => type))];
}

/** Returns a hold if an Endpoint does not allow artifacts of a type. */
export function typeNotAllowed(type: string | undefined, endpoint: Endpoint | undefined): Hold | undefined {
  const allowed = endpoint?.spec.allowedTypes;
  if (allowed === undefined || (type !== undefined && allowed.includes(type))) return undefined;
  const message = `Endpoint "${endpoint?.metadata.name}" may be used by artifact type ${allowed.join(', ')}, not "${type ?? ''}": name one of these types, or add it to spec.allowedTypes of the Endpoint`;
  return { reason: 'TypeNotAllowed', message };
}

/** True for a cluster template declared to use only the transfer-worker. Users may write namespaced templates, so those cannot be declared so. */
export function appliesPolicies({
  kind,
  metadata,
}: {
  kind?: string;
  metadata: { annotations?: Record<string, string> };
}): boolean {
  return kind === 'ClusterWorkflowTemplate' && metadata.annotations?.[annotations.appliesPolicies] === 'true';
}

/** Returns a hold if policies are enforced that the template would not apply. */
export function policyNotApplied(
  template: { name: string; clusterScope?: boolean },
  { policies }: Enforcement,
  applying: readonly string[],
): Hold | undefined {
  const [first] = policies;
  if (first === undefined || (template.clusterScope === true && applying.includes(template.name)))
    return undefined;
  const kind = template.clusterScope === true ? 'ClusterWorkflowTemplate' : 'WorkflowTemplate';
  const message = `${first.from} enforces a policy, which ${kind} "${template.name}" does not apply: use a type whose ClusterWorkflowTemplate runs the transfer-worker and says so by the annotation ${annotations.appliesPolicies}=true, such as arc-oci-image`;
  return { reason: 'PolicyNotApplied', message };
}

/** True if a version made under `policies` is bound by every policy that is enforced now. */
export function isBoundBy(
  policies: readonly { digest: string }[] | undefined,
  enforced: readonly string[],
): boolean {
  const digests = new Set(policies?.map(({ digest }) => digest));
  return enforced.every((digest) => digests.has(digest));
}

interface Named {
  from: string;
  field: string;
  name: string;
  kind: string;
}

const ofSetting = {
  from: 'setting enforced.policy',
  field: `enforced.policy of ConfigMap ${conduitNamespace}/${settingsName}`,
  kind: 'ClusterArtifactType',
};

function policyOfType(
  type: ArtifactType | undefined,
  { from, field, name, kind }: Named,
): EnforcedPolicy | { hold: Hold } {
  const where = from === ofSetting.from ? field : `${field} of ${from}`;
  const missing = (message: string) => ({ hold: { reason: 'PolicyMissing', message } as const });
  if (name === '') return missing(`${where} cannot be read, so nothing is moved: correct it`);
  if (type === undefined)
    return missing(
      `${kind} "${name}" not found, whose policy ${where} enforces: create it, or correct ${field}`,
    );
  const text = type.spec.parameters?.find((one) => one.name === policyParameter)?.value;
  if (text === undefined)
    return missing(
      `artifact type "${name}" has no parameter ${policyParameter}, which ${where} enforces: add it, or correct ${field}`,
    );
  return { from: `${from} (type "${name}")`, text, digest: textDigest(text) };
}
