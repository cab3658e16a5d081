import type * as z from 'zod';
import type { Cause } from '#shared/base/errors';
import type { KubeObject } from '#shared/base/meta';
import type { ArcAction } from '../actions/actions.ts';
import { group, version } from '../kinds/refs.ts';
import { isDeleting } from '../lifecycle/phases.ts';

/** One printer column, as in the API server's KindDefinition. */
export interface ArcColumn {
  name: string;
  type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  description: string;
  priority?: number;
  value(object: KubeObject): string | number | boolean | null | undefined;
}

/** A kind of the group as plain data. Fits KindDefinition of shared/kubernetes/apiserver, which the domain does not import. */
export interface ArcKind {
  group: string;
  version: string;
  kind: string;
  plural: string;
  singular: string;
  shortNames: readonly string[];
  categories: readonly string[];
  scope: 'Namespaced' | 'Cluster';
  description: string;
  schema: z.ZodObject;
  status: boolean;
  actions: readonly ArcAction[];
  columns: readonly ArcColumn[];
  indexedLabels?: readonly string[];
  metadataLimit?: number;
  selectableFields?: Readonly<Record<string, (object: KubeObject) => string>>;
  hooks: {
    prepare(object: KubeObject, old: KubeObject | undefined): KubeObject;
    validate(object: KubeObject, old: KubeObject | undefined): Cause[];
    statusRoom?(object: KubeObject): number;
    sizeAdvice?(object: KubeObject, bytes: number): string | undefined;
    warn?(object: KubeObject, old: KubeObject | undefined): string[];
  };
}

interface Parts<T extends KubeObject> {
  kind: string;
  shortName: string;
  scope?: 'Cluster';
  description: string;
  schema: z.ZodObject;
  status: boolean;
  actions?: readonly ArcAction<T>[];
  columns: ReadonlyArray<Omit<ArcColumn, 'value'> & { value(object: T): ReturnType<ArcColumn['value']> }>;
  indexedLabels?: readonly string[];
  /** Limit on the bytes of labels, and on those of annotations. Default: 256 KiB. */
  metadataLimit?: number;
  /** For field selectors, beside name and namespace. */
  selectableFields?: Readonly<Record<string, (object: T) => string>>;
  causes(object: T, old: T | undefined): Cause[];
  /** The largest size of its status, in bytes. */
  statusRoom?(object: T): number;
  /** Advice for an object that is too large; `bytes` is its stored size without the status. */
  sizeAdvice?(object: T, bytes: number): string | undefined;
  warnings?(object: T): string[];
}

/**
 * The status of a new object. kstatus (cli-utils, pkg/kstatus) takes an object without a status for Current, and an object whose generation
 * was not observed for InProgress. Flux does the same.
 */
const unseen = { observedGeneration: -1 };

/** Adds what all kinds of the group have in common. An object that is being deleted is not validated. */
export function arcKind<T extends KubeObject>(parts: Parts<T>): ArcKind {
  const { kind, causes, statusRoom, sizeAdvice, warnings } = parts;
  const singular = kind.toLowerCase();
  // Hooks and columns run after the schema was checked (columns cope with absent parts), so the cast is safe.
  const typed = (object: KubeObject): T => object as T;
  return {
    group,
    version,
    kind,
    plural: `${singular}s`,
    singular,
    shortNames: [parts.shortName],
    categories: ['arc'],
    scope: parts.scope ?? 'Namespaced',
    description: parts.description,
    schema: parts.schema,
    status: parts.status,
    actions: (parts.actions ?? []).map((action) => ({
      ...action,
      act: (object, asked) => action.act(typed(object), asked),
    })),
    ...(parts.indexedLabels ? { indexedLabels: parts.indexedLabels } : {}),
    ...(parts.metadataLimit ? { metadataLimit: parts.metadataLimit } : {}),
    ...(parts.selectableFields
      ? {
          selectableFields: Object.fromEntries(
            Object.entries(parts.selectableFields).map(([field, read]) => [
              field,
              (object: KubeObject) => read(typed(object)),
            ]),
          ),
        }
      : {}),
    columns: parts.columns.map((column) => ({ ...column, value: (object) => column.value(typed(object)) })),
    hooks: {
      prepare: (object, old) => (parts.status && old === undefined ? { ...object, status: unseen } : object),
      validate: (object, old) => (isDeleting(object) ? [] : causes(typed(object), old && typed(old))),
      ...(statusRoom ? { statusRoom: (object) => statusRoom(typed(object)) } : {}),
      ...(sizeAdvice ? { sizeAdvice: (object, bytes) => sizeAdvice(typed(object), bytes) } : {}),
      ...(warnings ? { warn: (object) => (isDeleting(object) ? [] : warnings(typed(object))) } : {}),
    },
  };
}

/** The Age column that kubectl prints for every kind. */
export const age = {
  name: 'Age',
  type: 'date',
  description: 'Time since creation.',
  value: (object: KubeObject) => object.metadata.creationTimestamp,
} as const;

/** Returns the first line of a text: a table row has one line. */
export function firstLine(text: string | undefined): string {
  return text?.split('\n', 1)[0] ?? '';
}
