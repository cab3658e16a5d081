import type { ArtifactType } from '../kinds/artifact-type.ts';
import type { Endpoint } from '../kinds/endpoint.ts';
import { conduitNamespace } from '../kinds/refs.ts';
import { annotations, policyParameter } from '../kinds/well-known.ts';
import type { Hold } from '../lifecycle/holds.ts';

import { type Settings, settingsName } from '../settings/settings.ts';
import { textDigest } from '../values/hash.ts';
import { typesByName } from './templates.ts';

/**
 * Policies that bind a place: that of the destination Endpoint (`policyRef`) and those of the operator (`enforced.policy`). All of them and the
 * policy of the artifact's type have to be fulfilled, so the choice of a type removes none.
 */
export interface EnforcedPolicy {
  /** Who enforces it, for people. */
  from: string;
  /** JSON, as it stands in a type (`parsePolicy`). */
  text: string;
  digest: string;
}

/** `hold`: a policy is enforced that is not there, so nothing may be moved. */
export interface Enforcement {
  policies: readonly EnforcedPolicy[];
  hold?: Hold;
}

export interface EnforcementInputs {
  namespace: string | undefined;
  /** Absent for an ArtifactWorkflow that was made by hand without one, and where it does not exist. */
  destination: Endpoint | undefined;
  /** Those of the namespace and of the cluster; others than those that are named do no harm. */
  types: readonly ArtifactType[];
  settings: Settings;
}

/** The policies that bind whatever is moved to a destination. */
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
      // A type of the namespace does not shadow it: the setting is the operator's word for all of them.
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

/** The types whose policies bind what is moved from a namespace to one of the Endpoints, by name. */
export function policyTypes(
  namespace: string | undefined,
  endpoints: readonly Endpoint[],
  settings: Settings,
): string[] {
  const named = endpoints.flatMap(({ spec }) => spec.policyRef?.name ?? []);
  return [...new Set([...named, ...enforcedTypes(namespace, settings)])];
}

/** The ClusterArtifactTypes that the operator enforces in a namespace. */
export function enforcedTypes(namespace: string | undefined, settings: Settings): string[] {
  const all = settings['enforced.policy'] ?? [];
  const here = all.filter((one) => one.namespace === undefined || one.namespace === namespace);
  return [...new Set(here.map(({ type }) => type))];
}

/** Set where an Endpoint does not let artifacts of a type use it. */
export function typeNotAllowed(type: string | undefined, endpoint: Endpoint | undefined): Hold | undefined {
  const allowed = endpoint?.spec.allowedTypes;
  if (allowed === undefined || (type !== undefined && allowed.includes(type))) return undefined;
  const message = `Endpoint "${endpoint?.metadata.name}" may be used by artifact type ${allowed.join(', ')}, not "${type ?? ''}": name one of these types, or add it to spec.allowedTypes of the Endpoint`;
  return { reason: 'TypeNotAllowed', message };
}

/** True for a template of the cluster whose author says that the transfer-worker moves all that it moves. One of a namespace cannot say so: users may write it. */
export function appliesPolicies({
  kind,
  metadata,
}: {
  kind?: string;
  metadata: { annotations?: Record<string, string> };
}): boolean {
  return kind === 'ClusterWorkflowTemplate' && metadata.annotations?.[annotations.appliesPolicies] === 'true';
}

/** Set where policies are enforced and the template would not apply them. */
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

/** True where a version that was made under `policies` is bound by all that are enforced now. */
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
