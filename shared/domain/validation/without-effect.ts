import { ownerOfKind } from '#shared/base/meta';
import { fileTypes } from '#shared/domain/address';
import type { ArtifactType } from '../kinds/artifact-type.ts';
import type { ArtifactWorkflow } from '../kinds/artifact-workflow.ts';
import type { Cron, RetryPolicy } from '../kinds/common.ts';
import type { Endpoint } from '../kinds/endpoint.ts';
import type { Order } from '../kinds/order.ts';
import { mayBe } from '../kinds/usage.ts';
import { isFromEndpoint } from '../plan/parameters.ts';
import { quoted } from '../values/causes.ts';
import { parseDuration } from '../values/duration.ts';

/** Warns about fields that have no effect beside others of the same object, so that nobody relies on them. */

const onSchedule = 'has no effect: Argo starts the runs of a schedule, and the next one follows by itself';

export function orderWithoutEffect({ spec }: Order): string[] {
  const { artifacts = [], defaults = {}, ttl, ttlSecondsAfterCompletion: seconds } = spec;
  const areScheduled = artifacts.length > 0 && artifacts.every(({ cron = defaults.cron }) => cron);
  const ofRuns = (['retry', 'parallelism', 'ttlSecondsAfterCompletion'] as const).filter(
    (field) => areScheduled && spec[field] !== undefined,
  );
  const goesBefore =
    !areScheduled &&
    seconds !== undefined &&
    ttl !== undefined &&
    seconds * 1000 >= (parseDuration(ttl) ?? 0);
  return [
    ...ofRuns.map((field) => `spec.${field}: ${onSchedule}`),
    ...(areScheduled ? [] : backoffWithoutEffect(spec.retry)),
    ...(goesBefore
      ? [
          'spec.ttlSecondsAfterCompletion: has no effect: spec.ttl deletes the Order, with all it owns, before',
        ]
      : []),
    ...zoneWithoutEffect('spec.defaults.cron', defaults.cron),
    ...artifacts.flatMap(({ cron, cancel }, index) => [
      ...zoneWithoutEffect(`spec.artifacts[${index}].cron`, cron),
      ...(cancel === false && spec.cancel === true
        ? [`spec.artifacts[${index}].cancel: false has no effect while spec.cancel is true`]
        : []),
    ]),
  ];
}

/** For ArtifactWorkflows made by hand: those of an Order follow the Order. */
export function artifactWorkflowWithoutEffect(workflow: ArtifactWorkflow): string[] {
  if (ownerOfKind(workflow, 'Order') !== undefined) return [];
  const { spec } = workflow;
  const isScheduled = spec.cron !== undefined;
  const ofRuns = (['retry', 'ttlAfterFinished', 'ttlAfterFailed'] as const).filter(
    (field) => isScheduled && spec[field] !== undefined,
  );
  return [
    ...ofRuns.map((field) => `spec.${field}: ${onSchedule}`),
    ...(isScheduled ? [] : backoffWithoutEffect(spec.retry)),
    ...(spec.parallelism === undefined
      ? []
      : ['spec.parallelism: has no effect on an ArtifactWorkflow without an Order']),
    ...zoneWithoutEffect('spec.cron', spec.cron),
  ];
}

/** Parameter names as camel case derives them from the fields of an artifact's spec. */
const specParameter = /^spec[-_A-Z0-9]/;

export function artifactTypeWithoutEffect({ spec }: ArtifactType): string[] {
  const { target = [], parameters = [] } = spec;
  const isKnown = (name: string) =>
    specParameter.test(name) ||
    name === 'cron' ||
    isFromEndpoint({ name }) ||
    parameters.some((one) => one.name === name);
  return [
    ...backoffWithoutEffect(spec.retry),
    ...target.flatMap((name, index) =>
      isKnown(name)
        ? []
        : [
            `spec.target[${index}]: ${quoted(name)} has no effect: no artifact has this parameter; the field image of its spec is specImage`,
          ],
    ),
  ];
}

/** The Endpoint types supported by the artifact types in knative/base. */
const standardTypes: readonly string[] = [...fileTypes, 'bundle', 'helm', 'oci', 'oci-layout'].sort();

/** Warns about an unknown type: custom types are valid, but the shipped artifact types would not accept a misspelt one. */
export function unknownType({ spec: { type } }: Endpoint): string[] {
  if (standardTypes.includes(type)) return [];
  return [
    `spec.type: ${quoted(type)} is none of the types that come with ARC (${standardTypes.join(', ')}): only an ArtifactType of your own can use it`,
  ];
}

export function endpointWithoutEffect({ spec }: Endpoint): string[] {
  const { type, remoteURL, secretRef, tls, tokenHosts = [], redirectHosts = [], policyRef } = spec;
  const policy =
    policyRef !== undefined && !mayBe('destination', spec)
      ? [
          `spec.policyRef: has no effect while spec.usage is ${spec.usage}: it binds what is written to an Endpoint`,
        ]
      : [];
  const folder = 'has no effect: remoteURL is a folder, which no connection leads to';
  if (/^file:\/\/\//i.test(remoteURL))
    return [
      ...policy,
      ...(tls === undefined ? [] : [`spec.tls: ${folder}`]),
      ...(tokenHosts.length === 0 ? [] : [`spec.tokenHosts: ${folder}`]),
      ...(redirectHosts.length === 0 ? [] : [`spec.redirectHosts: ${folder}`]),
      ...(type === 'oci-layout' && secretRef !== undefined ? [`spec.secretRef: ${folder}`] : []),
    ];
  return [
    ...policy,
    ...(tls?.caSecretRef !== undefined && tls.insecureSkipVerify === true
      ? ['spec.tls.caSecretRef: has no effect: spec.tls.insecureSkipVerify accepts any certificate']
      : []),
  ];
}

function backoffWithoutEffect(retry: RetryPolicy | undefined): string[] {
  return retry?.limit === 0 && retry.backoff !== undefined
    ? ['spec.retry.backoff: has no effect while spec.retry.limit is 0']
    : [];
}

function zoneWithoutEffect(field: string, cron: Cron | undefined): string[] {
  const { timezone, schedules = [] } = cron ?? {};
  if (timezone === undefined || !schedules.every((schedule) => schedule.startsWith('@every'))) return [];
  return [`${field}.timezone: has no effect: @every counts from the last run, in any time zone`];
}
