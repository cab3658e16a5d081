import type { Cause } from '#shared/base/errors';
import { isRecord } from '#shared/base/meta';

/**
 * What the executor of the standalone can run (docs/extending.md): templates that are one pod of a known program. Everything
 * else is refused when it is written, by the name of its field, instead of failing when it is run.
 */

/** The paths at which a template may mount volumes: the worker gets them through its environment. */
export const mountPaths: Readonly<Record<string, string>> = {
  '/etc/arc/config': 'ARC_CONFIG_DIR',
  '/etc/arc/attestation': 'ARC_ATTESTATION_DIR',
  '/etc/arc/trust': 'ARC_TRUST_DIR',
  '/var/lib/arc/quarantine': 'ARC_QUARANTINE_DIR',
  '/var/lib/arc/reports': 'ARC_REPORTS_DIR',
  '/tmp/arc': 'ARC_WORK_DIR',
  '/bundles': 'ARC_BUNDLE_DIR',
};

// Fields that schedule, limit or secure pods in a cluster are accepted and have no effect on a process.
const specFields = [
  ...[
    'entrypoint',
    'arguments',
    'templates',
    'volumes',
    'workflowTemplateRef',
    'shutdown',
    'suspend',
    'ttlStrategy',
  ],
  ...[
    'activeDeadlineSeconds',
    'workflowMetadata',
    'podMetadata',
    'podGC',
    'priority',
    'podPriorityClassName',
  ],
  ...[
    'serviceAccountName',
    'automountServiceAccountToken',
    'executor',
    'securityContext',
    'nodeSelector',
    'affinity',
  ],
  ...[
    'tolerations',
    'imagePullSecrets',
    'archiveLogs',
    'parallelism',
    'retryStrategy',
    'podDisruptionBudget',
  ],
  ...['schedulerName', 'hostNetwork', 'dnsPolicy', 'dnsConfig', 'volumeClaimGC', 'podSpecPatch'],
];
const templateFields = [
  ...[
    'name',
    'inputs',
    'outputs',
    'container',
    'containerSet',
    'metadata',
    'activeDeadlineSeconds',
    'retryStrategy',
  ],
  ...[
    'volumes',
    'serviceAccountName',
    'automountServiceAccountToken',
    'executor',
    'securityContext',
    'nodeSelector',
  ],
  ...[
    'affinity',
    'tolerations',
    'priority',
    'priorityClassName',
    'schedulerName',
    'archiveLocation',
    'annotations',
  ],
];
const containerFields = [
  ...[
    'name',
    'image',
    'imagePullPolicy',
    'command',
    'args',
    'env',
    'volumeMounts',
    'resources',
    'securityContext',
  ],
  ...[
    'terminationMessagePath',
    'terminationMessagePolicy',
    'dependencies',
    'ports',
    'livenessProbe',
    'readinessProbe',
  ],
];
const parameterValueFields = ['path', 'default'];

type Value = Record<string, unknown>;

/** The unsupported fields of a WorkflowSpec (also that of templates), by path; an empty list is a pass. */
export function unsupportedFields(spec: unknown, path: string): Cause[] {
  if (!isRecord(spec)) return [];
  return [
    ...unknown(spec, specFields, path, ''),
    ...expressions(spec, path),
    ...eachOf(spec.volumes, `${path}.volumes`, volumeCauses),
    ...eachOf(spec.templates, `${path}.templates`, templateCauses),
    ...retryCauses(spec.retryStrategy, `${path}.retryStrategy`),
  ];
}

function templateCauses(template: Value, path: string): Cause[] {
  const causes = unknown(
    template,
    templateFields,
    path,
    ': a template must be one container or containerSet',
  );
  if (template.container === undefined && template.containerSet === undefined && causes.length === 0) {
    causes.push({
      reason: 'FieldValueRequired',
      message: 'Required value: container or containerSet',
      field: path,
    });
  }
  const set = isRecord(template.containerSet) ? template.containerSet : {};
  return [
    ...causes,
    ...unknownIn(template.inputs, ['parameters'], `${path}.inputs`),
    ...unknownIn(template.outputs, ['parameters'], `${path}.outputs`),
    ...eachOf(
      isRecord(template.outputs) ? template.outputs.parameters : [],
      `${path}.outputs.parameters`,
      (one, at) => unknownIn(one.valueFrom, parameterValueFields, `${at}.valueFrom`),
    ),
    ...eachOf(template.volumes, `${path}.volumes`, volumeCauses),
    ...retryCauses(template.retryStrategy, `${path}.retryStrategy`),
    ...(isRecord(template.container) ? containerCauses(template.container, `${path}.container`) : []),
    ...unknown(set, ['containers', 'volumeMounts'], `${path}.containerSet`, ''),
    ...eachOf(set.volumeMounts, `${path}.containerSet.volumeMounts`, mountCauses),
    ...eachOf(set.containers, `${path}.containerSet.containers`, containerCauses),
  ];
}

function containerCauses(container: Value, path: string): Cause[] {
  return [
    ...unknown(container, containerFields, path, ''),
    ...eachOf(container.env, `${path}.env`, (one, at) => unknown(one, ['name', 'value'], at, '')),
    ...eachOf(container.volumeMounts, `${path}.volumeMounts`, mountCauses),
  ];
}

function mountCauses(mount: Value, path: string): Cause[] {
  const known = Object.keys(mountPaths);
  if (typeof mount.mountPath === 'string' && !known.includes(mount.mountPath.replace(/\/$/, ''))) {
    const message = `Unsupported value: "${mount.mountPath}": a process sees only ${known.join(', ')}`;
    return [{ reason: 'FieldValueNotSupported', message, field: `${path}.mountPath` }];
  }
  return unknown(mount, ['name', 'mountPath', 'readOnly'], path, '');
}

function volumeCauses(volume: Value, path: string): Cause[] {
  return [
    ...unknown(
      volume,
      ['name', 'secret', 'emptyDir', 'persistentVolumeClaim'],
      path,
      ': volumes are secret, emptyDir or persistentVolumeClaim',
    ),
    ...unknownIn(volume.persistentVolumeClaim, ['claimName', 'readOnly'], `${path}.persistentVolumeClaim`),
    ...unknownIn(volume.secret, ['secretName', 'optional', 'defaultMode', 'items'], `${path}.secret`),
  ];
}

function retryCauses(retry: unknown, path: string): Cause[] {
  return unknownIn(retry, ['limit', 'retryPolicy'], path);
}

function expressions(value: unknown, path: string): Cause[] {
  if (typeof value === 'string') {
    if (!value.includes('{{=')) return [];
    return [notSupported(path, ': expressions ({{=...}}) are not evaluated here')];
  }
  if (Array.isArray(value)) return value.flatMap((one, index) => expressions(one, `${path}[${index}]`));
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([name, one]) => expressions(one, `${path}.${name}`));
}

function unknownIn(value: unknown, known: readonly string[], path: string): Cause[] {
  return isRecord(value) ? unknown(value, known, path, '') : [];
}

function unknown(value: Value, known: readonly string[], path: string, hint: string): Cause[] {
  return Object.keys(value)
    .filter((name) => !known.includes(name) && value[name] !== undefined && value[name] !== null)
    .map((name) => notSupported(`${path}.${name}`, hint));
}

function notSupported(field: string, hint: string): Cause {
  const message = `Forbidden: not supported by the executor of the standalone${hint}`;
  return { reason: 'FieldValueForbidden', message, field };
}

function eachOf(list: unknown, path: string, judge: (one: Value, path: string) => Cause[]): Cause[] {
  if (!Array.isArray(list)) return [];
  return list.flatMap((one, index) => (isRecord(one) ? judge(one, `${path}[${index}]`) : []));
}
