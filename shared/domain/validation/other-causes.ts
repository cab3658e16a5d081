import { ArcError, type Cause } from '#shared/base/errors';
import { sameJson } from '#shared/base/meta';
import { identityFields, type PolicyField } from '../identity/artifact.ts';
import { isObjectName } from '../identity/names.ts';
import type { ArtifactType, ArtifactTypeSpec } from '../kinds/artifact-type.ts';
import type { ArtifactWorkflow, ArtifactWorkflowSpec } from '../kinds/artifact-workflow.ts';
import type { Parameter } from '../kinds/common.ts';
import type { Endpoint, EndpointSpec } from '../kinds/endpoint.ts';
import { attestParameter, policyParameter } from '../kinds/well-known.ts';
import { isFromEndpoint } from '../plan/parameters.ts';
import { parsePolicy } from '../render/policy.ts';
import { isHostPattern } from '../settings/hosts.ts';
import { invalid, quoted, required } from '../values/causes.ts';
import { parseDuration } from '../values/duration.ts';
import { longestUrl, mostAllowedTypes, mostRedirectHosts, mostTokenHosts } from '../values/limits.ts';
import { durationCauses, nameCauses, parameterCauses, queueCauses, templateCauses } from './causes.ts';
import { cronCauses } from './cron-causes.ts';
import { pinCauses, schemaClashCauses } from './spec-causes.ts';
import { artifactTypeWithoutEffect } from './without-effect.ts';

type Changed<Spec> = (field: keyof Spec) => boolean;

function changedBetween<Spec extends object>(spec: Spec, old: Spec | undefined): Changed<Spec> {
  return (field) => !old || !sameJson(spec[field], old[field]);
}

/** Returns the problems of an Endpoint that could never work. */
export function endpointCauses({ spec }: Endpoint, old: Endpoint | undefined): Cause[] {
  const changed = changedBetween<EndpointSpec>(spec, old?.spec);
  return [
    ...(changed('type')
      ? [...nameCauses('spec.type', spec.type), ...templateCauses('spec.type', spec.type)]
      : []),
    ...(changed('remoteURL') ? urlCauses('spec.remoteURL', spec.remoteURL) : []),
    ...(changed('tokenHosts') ? hostCauses('spec.tokenHosts', spec.tokenHosts) : []),
    ...(changed('redirectHosts') ? redirectHostCauses('spec.redirectHosts', spec.redirectHosts) : []),
    ...(changed('secretRef') ? nameCauses('spec.secretRef.name', spec.secretRef?.name) : []),
    ...(changed('allowedTypes') ? typeNameCauses('spec.allowedTypes', spec.allowedTypes) : []),
    ...(changed('policyRef') ? nameCauses('spec.policyRef.name', spec.policyRef?.name) : []),
    ...(changed('tls') ? nameCauses('spec.tls.caSecretRef.name', spec.tls?.caSecretRef?.name) : []),
  ];
}

function typeNameCauses(field: string, names: readonly string[] = []): Cause[] {
  if (names.length > mostAllowedTypes) return tooMany(field, names, mostAllowedTypes);
  return names.flatMap((name, index) => nameCauses(`${field}[${index}]`, name));
}

/** Host names in URL form: lower case, without scheme, port and path. */
function hostCauses(field: string, hosts: readonly string[] = []): Cause[] {
  if (hosts.length > mostTokenHosts) return tooMany(field, hosts, mostTokenHosts);
  return hosts.flatMap((host, index) => {
    if (isObjectName(host) && URL.parse(`https://${host}`)?.hostname === host) return [];
    const message = `Invalid value: ${quoted(host)}: must be the name of a host in lower case, such as auth.example.com`;
    return [invalid(`${field}[${index}]`, message)];
  });
}

/** Host patterns, each with or without a port. */
function redirectHostCauses(field: string, hosts: readonly string[] = []): Cause[] {
  if (hosts.length > mostRedirectHosts) return tooMany(field, hosts, mostRedirectHosts);
  return hosts.flatMap((host, index) => {
    // Normalized as in a URL: addresses have one form, and ports a maximum.
    const [name, example] = [host.replace(/:\d+$/, ''), host].map((text) => text.replace('*.', 'any.'));
    if (isHostPattern(host) && URL.parse(`https://${example}`)?.hostname === name) return [];
    const message = `Invalid value: ${quoted(host)}: must be a host in lower case, with a port or without, such as storage.example.com, storage:9000 or *.example.com`;
    return [invalid(`${field}[${index}]`, message)];
  });
}

function tooMany(field: string, items: readonly unknown[], most: number): Cause[] {
  const message = `Too many: ${items.length}: must have at most ${most} items`;
  return [{ reason: 'FieldValueTooMany', field, message }];
}

function urlCauses(field: string, text: string): Cause[] {
  if (text === '') return [required(field, 'a URL, or a host for https')];
  if (text.length > longestUrl)
    return [
      { reason: 'FieldValueTooLong', field, message: `Too long: may not be more than ${longestUrl} bytes` },
    ];
  const braces = templateCauses(field, text);
  if (braces.length > 0) return braces;
  // Not echoed if it may contain a password.
  const complete = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `https://${text}`;
  const url = /\s/.test(text) ? null : URL.parse(complete);
  if (!url || (/^https?:$/.test(url.protocol) && url.hostname === '')) {
    return [
      invalid(field, 'Invalid value: must be https://host[:port][/prefix], http://… or a bare host[/prefix]'),
    ];
  }
  if (url.username !== '' || url.password !== '') {
    return [
      invalid(field, 'Invalid value: must not hold credentials; put them into the Secret of spec.secretRef'),
    ];
  }
  return [];
}

/** Returns the problems of an ArtifactType or ClusterArtifactType that could never work. */
export function artifactTypeCauses({ spec }: ArtifactType, old: ArtifactType | undefined): Cause[] {
  const changed = changedBetween<ArtifactTypeSpec>(spec, old?.spec);
  const { rules, parameters, workflowTemplateRef } = spec;
  return [
    ...(changed('workflowTemplateRef') ? templateRefCauses(workflowTemplateRef.name) : []),
    ...(changed('parameters') ? typeParameterCauses('spec.parameters', parameters) : []),
    ...(changed('schema') ? schemaClashCauses('spec.schema', spec.schema) : []),
    ...(changed('rules') ? ruleCauses('spec.rules.srcTypes', rules?.srcTypes) : []),
    ...(changed('rules') ? ruleCauses('spec.rules.dstTypes', rules?.dstTypes) : []),
    ...policyCauses(spec, changed),
  ];
}

function typeParameterCauses(field: string, parameters: readonly Parameter[] = []): Cause[] {
  const replaced = parameters.flatMap(({ name }, index) =>
    isFromEndpoint({ name })
      ? [
          invalid(
            `${field}[${index}].name`,
            `Invalid value: ${quoted(name)}: comes from an Endpoint, which a type does not replace`,
          ),
        ]
      : [],
  );
  return [
    ...replaced,
    ...parameterCauses(field, parameters),
    ...policyTextCauses(field, parameters),
    ...attestCauses(field, parameters),
    ...pinCauses(field, parameters),
  ];
}

function policyTextCauses(field: string, parameters: readonly Parameter[]): Cause[] {
  const index = parameters.findIndex(({ name }) => name === policyParameter);
  const given = parameters[index];
  if (given === undefined) return [];
  try {
    parsePolicy(given.value);
    return [];
  } catch (caught) {
    return [invalid(`${field}[${index}].value`, `Invalid value: ${ArcError.from(caught).message}`)];
  }
}

function attestCauses(field: string, parameters: readonly Parameter[]): Cause[] {
  const index = parameters.findIndex(({ name }) => name === attestParameter);
  const given = parameters[index]?.value;
  if (given === undefined || given === 'true' || given === 'false') return [];
  return [invalid(`${field}[${index}].value`, `Invalid value: ${attestParameter} must be true or false`)];
}

function templateRefCauses(name: string): Cause[] {
  const field = 'spec.workflowTemplateRef.name';
  return [...nameCauses(field, name), ...templateCauses(field, name)];
}

function ruleCauses(field: string, types: readonly string[] = []): Cause[] {
  return types.flatMap((type, index) => nameCauses(`${field}[${index}]`, type));
}

type Policy = Pick<ArtifactWorkflowSpec, Exclude<PolicyField, 'suspend'>>;

function policyCauses(spec: Policy, changed: Changed<Policy>): Cause[] {
  return [
    ...(changed('ttlAfterFinished') ? durationCauses('spec.ttlAfterFinished', spec.ttlAfterFinished) : []),
    ...(changed('ttlAfterFailed') ? durationCauses('spec.ttlAfterFailed', spec.ttlAfterFailed) : []),
    ...(changed('retry') ? durationCauses('spec.retry.backoff', spec.retry?.backoff) : []),
    ...(changed('queueName') ? queueCauses('spec.queueName', spec.queueName) : []),
  ];
}

/** Returns warnings about what is valid but probably not intended. */
export function artifactTypeWarnings(type: ArtifactType): string[] {
  return [...ttlWarnings(type), ...artifactTypeWithoutEffect(type)];
}

/**
 * Here the Go ARC reads unset as "at once" and 0 as "keep", and this API the opposite. The warning is given only
 * for types that set a TTL.
 */
function ttlWarnings({ spec }: ArtifactType): string[] {
  const { ttlAfterFinished, ttlAfterFailed } = spec;
  const zero = (ttl: string | undefined) => ttl !== undefined && parseDuration(ttl) === 0;
  const atOnce = (['ttlAfterFinished', 'ttlAfterFailed'] as const)
    .filter((field) => zero(spec[field]))
    .map((field) => `spec.${field}: 0 removes ArtifactWorkflows at once; in the Go ARC it keeps them`);
  const unset = ttlAfterFinished === undefined && ttlAfterFailed !== undefined;
  const kept = 'spec.ttlAfterFinished: unset keeps ArtifactWorkflows; in the Go ARC it removes them at once';
  return unset ? [...atOnce, kept] : atOnce;
}

/** Returns the problems of an ArtifactWorkflow that could never work. Its identity fields are immutable. */
export function artifactWorkflowCauses(
  { spec }: ArtifactWorkflow,
  old: ArtifactWorkflow | undefined,
): Cause[] {
  const changed = changedBetween<ArtifactWorkflowSpec>(spec, old?.spec);
  if (old) {
    const moved = identityFields.filter((field) => changed(field));
    const causes = moved.map((field) => invalid(`spec.${field}`, 'Invalid value: field is immutable'));
    return [...causes, ...policyCauses(spec, changed)];
  }
  return [
    ...templateRefCauses(spec.workflowTemplateRef.name),
    ...parameterCauses('spec.parameters', spec.parameters),
    ...nameCauses('spec.srcSecretRef.name', spec.srcSecretRef?.name),
    ...nameCauses('spec.dstSecretRef.name', spec.dstSecretRef?.name),
    ...nameCauses('spec.srcRef.name', spec.srcRef?.name),
    ...nameCauses('spec.dstRef.name', spec.dstRef?.name),
    ...cronCauses('spec.cron', spec.cron),
    ...templateCauses('spec.artifact', spec.artifact),
    ...policyCauses(spec, changed),
  ];
}
