import type { KubeObject } from '#shared/base/meta';
import { ignoreNotFound, namespaceOf, readSettings, readTypes } from '#shared/conduit/function-kit';
import type { Context } from '#shared/conduit/runtime';
import {
  type ArtifactWorkflow,
  appliesPolicies,
  clusterWorkflowTemplates,
  endpoints,
  policyTypes,
  type RenderInputs,
  secrets,
} from '#shared/domain';
import type { Kind } from '#shared/kubernetes/client';

/**
 * Reads the Endpoints and Secrets that an ArtifactWorkflow refers to, each by name, and the enforced policies. An object that does not exist
 * is undefined. Rejects with the error of the API.
 */
export async function readInputs(context: Context, workflow: ArtifactWorkflow): Promise<RenderInputs> {
  const { api, signal } = context;
  const { srcRef, dstRef, srcSecretRef, dstSecretRef } = workflow.spec;
  const read = async <T extends KubeObject>(kind: Kind<T>, ref: { name: string } | undefined) =>
    ref && (await api.get(kind, { ...namespaceOf(workflow), name: ref.name }, signal));

  // Endpoints before Secrets: if a Secret is newer than its Endpoint's counter, the next version of both corrects it.
  const [source, destination, settings] = await Promise.all([
    read(endpoints, srcRef),
    read(endpoints, dstRef),
    // The settings that a version with policies was made by may be newer than the cached settings.
    workflow.spec.policies === undefined ? readSettings(context) : readSettings(context, 0),
  ]);
  const { namespace } = workflow.metadata;
  const names = policyTypes(namespace, destination === undefined ? [] : [destination], settings);
  const enforced = names.length === 0 ? {} : await readEnforced(context, workflow, names);
  const [sourceSecret, destinationSecret, sourceCa, destinationCa] = await Promise.all([
    read(secrets, srcSecretRef),
    read(secrets, dstSecretRef),
    read(secrets, source?.spec.tls?.caSecretRef),
    read(secrets, destination?.spec.tls?.caSecretRef),
  ]);
  return {
    source,
    destination,
    sourceSecret,
    destinationSecret,
    sourceCa,
    destinationCa,
    settings,
    ...enforced,
  };
}

/** Reads the types with the policies, and whether the template applies them. */
async function readEnforced(
  context: Context,
  workflow: ArtifactWorkflow,
  names: readonly string[],
): Promise<Pick<RenderInputs, 'types' | 'applyingTemplates'>> {
  const { api, signal } = context;
  const { name, clusterScope } = workflow.spec.workflowTemplateRef;
  const [types, template] = await Promise.all([
    readTypes(
      context,
      workflow,
      names.filter((each) => each !== ''),
    ),
    clusterScope === true ? ignoreNotFound(api.get(clusterWorkflowTemplates, { name }, signal)) : undefined,
  ]);
  return { types, applyingTemplates: template && appliesPolicies(template) ? [name] : [] };
}
