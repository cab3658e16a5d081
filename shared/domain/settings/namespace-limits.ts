import { defaultWriteRate, namespaceDefaults } from '../values/limits.ts';
import type { SettingKey, Settings } from './settings.ts';

/** A limit on the objects of a kind in a namespace, and the operator's setting for it. */
export interface NamespaceLimit {
  measure: 'objects' | 'bytes';
  hard: number;
  setting: SettingKey;
}

const limited = {
  orders: ['limits.ordersPerNamespace', 'limits.orderBytesPerNamespace'],
  artifactworkflows: ['limits.artifactWorkflowsPerNamespace', 'limits.artifactWorkflowBytesPerNamespace'],
  endpoints: ['limits.endpointsPerNamespace', 'limits.endpointBytesPerNamespace'],
  artifacttypes: ['limits.artifactTypesPerNamespace', 'limits.artifactTypeBytesPerNamespace'],
} as const satisfies Record<keyof typeof namespaceDefaults, readonly [SettingKey, SettingKey]>;

/** Returns the limits of a namespace for a kind, by its plural: the operator's, else the defaults. Empty for a kind without namespaces. */
export function namespaceLimits(plural: string, settings: Settings): readonly NamespaceLimit[] {
  if (!isLimited(plural)) return [];
  const [objects, bytes] = limited[plural];
  const { [objects]: mostObjects, [bytes]: mostBytes } = settings;
  const unset = namespaceDefaults[plural];
  return [
    { measure: 'objects', hard: mostObjects ?? unset.objects, setting: objects },
    { measure: 'bytes', hard: mostBytes ?? unset.bytes, setting: bytes },
  ];
}

function isLimited(plural: string): plural is keyof typeof limited {
  return Object.hasOwn(limited, plural);
}

/** Bytes that may be written to a namespace per minute, and the operator's setting for it. */
export function writeRateLimit(settings: Settings): { perMinute: number; setting: SettingKey } {
  const setting = 'limits.bytesWrittenPerMinute';
  return { perMinute: settings[setting] ?? defaultWriteRate, setting };
}
