import { defaultWriteRate, namespaceDefaults } from '../values/limits.ts';
import type { SettingKey, Settings } from './settings.ts';

/** What a namespace may hold of a kind, and the operator's setting that says so. */
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

/** The limits of a namespace for one of our kinds, by its plural: the operator's, else our own. None for a kind without namespaces. */
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

/** Bytes that a namespace may write in a minute, and the operator's setting that says so. */
export function writeRateLimit(settings: Settings): { perMinute: number; setting: SettingKey } {
  const setting = 'limits.bytesWrittenPerMinute';
  return { perMinute: settings[setting] ?? defaultWriteRate, setting };
}
