import { instantOf, ownerReference } from '#shared/base/meta';
import { isLabelValue } from '../identity/names.ts';
import type { ArtifactType } from '../kinds/artifact-type.ts';
import type { ArtifactWorkflow, EndpointRef } from '../kinds/artifact-workflow.ts';
import type { Reference } from '../kinds/common.ts';
import type { Secret } from '../kinds/core.ts';
import type { Endpoint } from '../kinds/endpoint.ts';
import {
  annotations,
  attestParameter,
  jobKey,
  labels,
  policyParameter,
  unixSeconds,
} from '../kinds/well-known.ts';
import { isFinished } from '../lifecycle/attempts.ts';
import type { Hold, HoldReason } from '../lifecycle/holds.ts';
import { isDeleting } from '../lifecycle/phases.ts';
import { hasMoved } from '../plan/endpoint-use.ts';
import { type EnforcedPolicy, enforcementOn, policyNotApplied, typeNotAllowed } from '../plan/enforced.ts';
import { specFromParameters } from '../plan/parameters.ts';
import type { Settings } from '../settings/settings.ts';
import { accessOf, certificatesOf } from './access.ts';
import type { Job, JobEndpoint } from './job.ts';
import { policiesText } from './policies.ts';

/** The existing objects that an ArtifactWorkflow refers to. An ArtifactWorkflow made by hand may name no Endpoints. */
export interface RenderInputs {
  source?: Endpoint | undefined;
  destination?: Endpoint | undefined;
  sourceSecret?: Secret | undefined;
  destinationSecret?: Secret | undefined;
  /** The Secrets of `tls.caSecretRef`, with the PEM under `ca.crt`. */
  sourceCa?: Secret | undefined;
  destinationCa?: Secret | undefined;
  /** The types whose policies are enforced (`policyTypes`). */
  types?: readonly ArtifactType[];
  settings?: Settings;
  /** Its template, if that applies policies. */
  applyingTemplates?: readonly string[];
}

/** `stale`: an Endpoint has changed, so the Order has to be planned again. `waiting`: an input is missing or not usable yet. */
export type Rendering = { secret: Secret } | { stale: string } | { waiting: Hold };

/** True while the rendered Secret is needed: until its ArtifactWorkflow has finished or is cancelled. */
export function needsConfiguration(workflow: ArtifactWorkflow): boolean {
  return !isDeleting(workflow) && !isFinished(workflow) && workflow.spec.cancel !== true;
}

/** `status.configReason` after the Secret was removed. */
export const configurationRemoved = 'Removed';

/** Maximum duration of one delivery, ms: the timeout of the Triggers. */
const longestDelivery = 60_000;

/**
 * Returns when to look for a Secret that the status does not name, in Unix milliseconds: a function may have crashed between creating the
 * Secret and recording it, before the ArtifactWorkflow was cancelled. In all other cases the status names the Secret. undefined: never, or
 * done already.
 */
export function leftoverAt(workflow: ArtifactWorkflow): number | undefined {
  const { phase, completionTime, configReason } = workflow.status ?? {};
  if (phase !== 'Cancelled' || !isFinished(workflow) || configReason === configurationRemoved)
    return undefined;
  return (instantOf(completionTime) ?? 0) + longestDelivery;
}

/** Renders the Secret that configures one transfer: a Job under `job.json`, with the name of its ArtifactWorkflow and owned by it. */
export function renderConfiguration(workflow: ArtifactWorkflow, inputs: RenderInputs): Rendering {
  const source = side(workflow, {
    prefix: 'src',
    ref: workflow.spec.srcRef,
    secretRef: workflow.spec.srcSecretRef,
    endpoint: inputs.source,
    secret: inputs.sourceSecret,
    ca: inputs.sourceCa,
  });
  const destination = side(workflow, {
    prefix: 'dst',
    ref: workflow.spec.dstRef,
    secretRef: workflow.spec.dstSecretRef,
    endpoint: inputs.destination,
    secret: inputs.destinationSecret,
    ca: inputs.destinationCa,
  });
  // Stale outranks waiting: the missing input may belong to an outdated Endpoint.
  for (const found of [source, destination]) if ('stale' in found) return found;
  const enforced = enforcedOn(workflow, inputs);
  if ('waiting' in enforced) return enforced;
  if ('waiting' in source) return source;
  if ('waiting' in destination) return destination;
  if (!('endpoint' in source) || !('endpoint' in destination))
    return held('EndpointMissing', 'its Endpoints are unknown');
  return {
    secret: secretOf(workflow, {
      artifact: artifactOf(workflow),
      source: source.endpoint,
      destination: destination.endpoint,
      ...policyOf(workflow, enforced.policies),
      ...(isVerified(workflow) ? { verify: true } : {}),
    }),
  };
}

/**
 * Returns the policies that are enforced on an ArtifactWorkflow, whoever made it: the job is its only way to credentials. Returns a hold where
 * they forbid the transfer.
 */
function enforcedOn(
  { metadata, spec }: ArtifactWorkflow,
  { source, destination, types = [], settings = {}, applyingTemplates = [] }: RenderInputs,
): { policies: readonly EnforcedPolicy[] } | { waiting: Hold } {
  const { namespace } = metadata;
  const enforcement = enforcementOn({ namespace, destination, types, settings });
  const hold =
    typeNotAllowed(spec.type, source) ??
    typeNotAllowed(spec.type, destination) ??
    enforcement.hold ??
    policyNotApplied(spec.workflowTemplateRef, enforcement, applyingTemplates);
  return hold === undefined ? { policies: enforcement.policies } : { waiting: hold };
}

function artifactOf({ spec }: ArtifactWorkflow): Job['artifact'] {
  const { artifact, type = '', parameters = [] } = spec;
  return {
    type,
    ...(artifact?.name === undefined ? {} : { name: artifact.name }),
    spec: artifact?.spec ?? specFromParameters(parameters),
  };
}

/** Not parsed here: the worker parses it, and transfers nothing if it cannot. */
function policyOf(
  { spec: { type, parameters = [] } }: ArtifactWorkflow,
  enforced: readonly EnforcedPolicy[],
): Pick<Job, 'policy' | 'attest'> {
  const own = parameters.find(({ name }) => name === policyParameter)?.value;
  const ofType = own === undefined ? undefined : { from: `artifact type "${type ?? ''}"`, text: own };
  const policy = policiesText(
    ofType,
    enforced.map(({ from, text }) => ({ from, text })),
  );
  const attest = parameters.find(({ name }) => name === attestParameter)?.value;
  return { ...(policy !== undefined && { policy }), ...(attest === 'true' && { attest: true }) };
}

/** True also if the force was requested on the ArtifactWorkflow itself instead of on its Order. */
function isVerified({ metadata, spec }: ArtifactWorkflow): boolean {
  const isForced = unixSeconds(metadata.annotations?.[annotations.forceAt]) > 0;
  if (spec.verify !== undefined) return spec.verify !== 'Never';
  return isForced && spec.cron === undefined;
}

interface Side {
  prefix: 'src' | 'dst';
  ref: EndpointRef | undefined;
  secretRef: Reference | undefined;
  endpoint: Endpoint | undefined;
  secret: Secret | undefined;
  ca: Secret | undefined;
}

type SideResult = { endpoint: JobEndpoint } | { stale: string } | { waiting: Hold };

function side(workflow: ArtifactWorkflow, one: Side): SideResult {
  const base = one.ref ? fromEndpoint(one.ref, one) : fromParameters(workflow, one.prefix);
  if (!('endpoint' in base)) return base;
  if (!one.secretRef) return base;
  if (!one.secret) return held('SecretMissing', `Secret "${one.secretRef.name}" not found: create it`);
  const access = accessOf(base.endpoint.type, one.secret);
  if (typeof access === 'string') return held('SecretUnusable', access);
  const { client, ...rest } = access;
  const tls = client && { tls: { ...base.endpoint.tls, ...client } };
  return { endpoint: { ...base.endpoint, ...rest, ...tls } };
}

function fromEndpoint(ref: EndpointRef, { endpoint, secretRef, ca }: Side): SideResult {
  if (!endpoint) return held('EndpointMissing', `Endpoint "${ref.name}" not found: create it`);
  const { metadata, spec } = endpoint;
  if (hasMoved(ref, endpoint) || spec.secretRef?.name !== secretRef?.name) {
    return { stale: `Endpoint "${ref.name}" has changed since this ArtifactWorkflow was made` };
  }
  const caName = spec.tls?.caSecretRef?.name;
  const pem = ca && certificatesOf(ca);
  if (caName !== undefined && pem === undefined) {
    const message = `Secret "${caName}" with the key ca.crt not found: create it (tls.caSecretRef of Endpoint "${ref.name}")`;
    return held('SecretMissing', message);
  }
  const tls = {
    ...(caName === undefined || pem === undefined ? {} : { ca: pem }),
    ...(spec.tls?.insecureSkipVerify ? { insecureSkipVerify: true } : {}),
    ...(spec.tls?.plainHTTP ? { plainHTTP: true } : {}),
  };
  return {
    endpoint: {
      name: metadata.name,
      type: spec.type,
      remoteURL: spec.remoteURL,
      ...(Object.keys(tls).length > 0 ? { tls } : {}),
      ...(spec.tokenHosts ? { tokenHosts: [...spec.tokenHosts] } : {}),
      ...(spec.redirectHosts ? { redirectHosts: [...spec.redirectHosts] } : {}),
    },
  };
}

function fromParameters({ spec }: ArtifactWorkflow, prefix: 'src' | 'dst'): SideResult {
  const value = (name: string) => spec.parameters?.find((parameter) => parameter.name === name)?.value;
  const remoteURL = value(`${prefix}RemoteURL`);
  if (!remoteURL)
    return held('EndpointMissing', `it has neither ${prefix}Ref nor a parameter ${prefix}RemoteURL`);
  return { endpoint: { name: prefix, type: value(`${prefix}Type`) ?? '', remoteURL } };
}

function held(reason: HoldReason, message: string): { waiting: Hold } {
  return { waiting: { reason, message } };
}

function secretOf(workflow: ArtifactWorkflow, job: Job): Secret {
  const { name, namespace } = workflow.metadata;
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      ...(isLabelValue(name) ? { labels: { [labels.artifactWorkflow]: name } } : {}),
      ownerReferences: [ownerReference(workflow)],
    },
    type: 'Opaque',
    data: { [jobKey]: Buffer.from(JSON.stringify(job)).toString('base64') },
  };
}
