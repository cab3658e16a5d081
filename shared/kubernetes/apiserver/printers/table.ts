import type { Column, KindDefinition, KubeObject } from '../kinds/definition.ts';
import { age } from './human-duration.ts';
import { type ListMeta, type PartialObjectMetadata, toPartial } from './partial.ts';

/** The object in each row (query parameter includeObject). */
export type IncludeObject = 'None' | 'Metadata' | 'Object';

export interface TableColumn {
  name: string;
  type: string;
  format: string;
  description: string;
  priority: number;
}

export type Cell = string | number | boolean | null;

export interface TableRow {
  cells: Cell[];
  object: PartialObjectMetadata | KubeObject | null;
}

/** meta.k8s.io/v1 Table. `columnDefinitions` is null after the first event of a watch. */
export interface Table {
  kind: 'Table';
  apiVersion: 'meta.k8s.io/v1';
  metadata: ListMeta;
  columnDefinitions: TableColumn[] | null;
  rows: TableRow[];
}

export interface TableOptions {
  includeObject: IncludeObject;
  /** Reference time of ages. */
  now: Date;
  /** Metadata of the list. Default: the resourceVersion of a single object. */
  listMeta?: ListMeta;
  /** False after the first event of a watch. */
  columnDefinitions: boolean;
}

const nameColumn: Column = {
  name: 'Name',
  type: 'string',
  description: 'Unique among the objects of this kind in the namespace; it cannot be changed.',
  value: (object) => object.metadata.name,
};

const ageColumn: Column = {
  name: 'Age',
  type: 'date',
  description: 'How long ago the server created the object.',
  value: (object) => object.metadata.creationTimestamp,
};

/** Returns Name, the columns of the kind, and Age unless the kind defines it. A kind that defines Name defines all its columns. */
export function columnsOf({ columns }: KindDefinition): readonly Column[] {
  const has = (name: string) => columns.some((column) => column.name === name);
  if (has('Name')) return columns;
  return [nameColumn, ...columns, ...(has('Age') ? [] : [ageColumn])];
}

/** Returns the column values of an object, with dates as timestamps; cellsOf formats them. */
export function columnValues(definition: KindDefinition, object: KubeObject): unknown[] {
  return columnsOf(definition).map((column) => column.value(object));
}

/** Returns the cells of a row. @param now reference time of ages */
export function cellsOf(definition: KindDefinition, values: readonly unknown[], now: Date): Cell[] {
  return columnsOf(definition).map((column, index) => cell(column, values[index], now));
}

/** Returns null for a value whose type differs from the type of the column: a stored object may be older than the column. */
function cell(column: Column, value: unknown, now: Date): Cell {
  if (value === null || value === undefined) return null;
  switch (column.type) {
    case 'date':
      return typeof value === 'string' ? age(value, now) : null;
    case 'integer':
      return typeof value === 'number' ? Math.trunc(value) : null;
    case 'string':
      return String(value);
    case 'number':
      return typeof value === 'number' ? value : null;
    case 'boolean':
      return typeof value === 'boolean' ? value : null;
  }
}

/** Returns the column definitions of a Table. */
export function columnDefinitions(definition: KindDefinition): TableColumn[] {
  return columnsOf(definition).map(({ name, type, description, priority = 0 }) => ({
    name,
    type,
    format: name === 'Name' ? 'name' : '',
    description,
    priority,
  }));
}

function rowObject(object: KubeObject, include: IncludeObject): TableRow['object'] {
  if (include === 'None') return null;
  return include === 'Object' ? object : toPartial(object);
}

function metadataOf(objects: readonly KubeObject[], listMeta: ListMeta | undefined): ListMeta {
  if (listMeta) return listMeta;
  const resourceVersion = objects.length === 1 ? objects[0]?.metadata.resourceVersion : undefined;
  return resourceVersion === undefined ? {} : { resourceVersion };
}

/**
 * Returns objects as a Table for `kubectl get`. Absent values are null and dates are ages, because kubectl prints cells verbatim.
 */
export function toTable(
  definition: KindDefinition,
  objects: readonly KubeObject[],
  options: TableOptions,
): Table {
  return {
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    metadata: metadataOf(objects, options.listMeta),
    columnDefinitions: options.columnDefinitions ? columnDefinitions(definition) : null,
    rows: objects.map((object) => ({
      cells: cellsOf(definition, columnValues(definition, object), options.now),
      object: rowObject(object, options.includeObject),
    })),
  };
}
