import { isDeepStrictEqual } from 'node:util';
import { isRecord } from '#shared/base/meta';

/** A complete operation of RFC 6902. */
export interface Operation {
  op: 'add' | 'replace' | 'test' | 'remove' | 'move' | 'copy';
  path: string;
  from?: string;
  value?: unknown;
}

const texts = ['op', 'path', 'from'];

/** Checks the types of op, path and from, but not completeness. */
export function isOperation(value: unknown): value is Partial<Operation> | null {
  if (value === null) return true;
  if (!isRecord(value)) return false;
  return texts.map((field) => value[field]).every((text) => text == null || typeof text === 'string');
}

/** Throws OperationError if a field that the op requires is missing. A missing value is null. */
function complete(operation: Partial<Operation> | null): Operation {
  const { op, path, from, value = null } = operation ?? {};
  if (typeof path !== 'string') throw new OperationError('it has no path');
  for (const pointer of [path, from ?? ''])
    if (pointer !== '' && !pointer.includes('/')) throw missing(pointer);
  switch (op) {
    case 'move':
    case 'copy':
      if (typeof from !== 'string') throw new OperationError('it has no from');
      return { op, path, from };
    case 'add':
    case 'replace':
    case 'test':
    case 'remove':
      return { op, path, value };
    default:
      throw new OperationError(`${JSON.stringify(op ?? '').slice(0, 100)} is not an operation`);
  }
}

function stepsOf(path: string): string[] {
  const steps = path.split('/').slice(1);
  return path.includes('~') ? steps.map((step) => step.replace(/~1/g, '/').replace(/~0/g, '~')) : steps;
}

/** The reason why an operation cannot be applied to the document. */
export class OperationError extends Error {}

const missing = (path: string) => new OperationError(`${shownPath(path)} does not exist`);

function shownPath(path: string): string {
  return path.length > 200 ? `${path.slice(0, 200)}…` : path || 'the document';
}

/** The target location of a pointer, in an object or an array. It need not exist yet. */
type TargetLocation = { list: unknown[]; index: number } | { fields: Record<string, unknown>; key: string };

/** Returns an own property or array item. */
function child(parent: unknown, step: string): { value: unknown } | undefined {
  if (Array.isArray(parent)) {
    const index = indexOf(step, parent.length);
    return index !== undefined && index < parent.length ? { value: parent[index] } : undefined;
  }
  return isRecord(parent) && Object.hasOwn(parent, step) ? { value: parent[step] } : undefined;
}

/** Parses an array index. Negative indexes count from the end, as in the library that Kubernetes uses. */
function indexOf(step: string, length: number): number | undefined {
  if (!/^[-+]?\d{1,9}$/.test(step)) return undefined;
  const index = Number(step);
  return index >= 0 ? index : index >= -length ? length + index : undefined;
}

function valueAt(document: unknown, path: string): unknown {
  let value = document;
  for (const step of stepsOf(path)) {
    const found = child(value, step);
    if (!found) throw missing(path);
    value = found.value;
  }
  return value;
}

/** Returns a value, or null for a missing field of an existing object. */
function valueOrNull(document: unknown, path: string): unknown {
  if (path === '') return document;
  const target = locate(document, path);
  if ('list' in target) return valueAt(document, path);
  return Object.hasOwn(target.fields, target.key) ? target.fields[target.key] : null;
}

function locate(document: unknown, path: string): TargetLocation {
  const steps = stepsOf(path);
  const key = steps.pop() ?? '';
  let parent = document;
  for (const step of steps) {
    const found = child(parent, step);
    if (!found) throw missing(path);
    parent = found.value;
  }
  if (Array.isArray(parent)) {
    const index = key === '-' ? parent.length : indexOf(key, parent.length);
    if (index === undefined || index > parent.length) throw missing(path);
    return { list: parent, index };
  }
  if (!isRecord(parent)) throw missing(path);
  // Assigning such a property would set the prototype.
  if (key === '__proto__') throw new OperationError('the field name "__proto__" is not allowed');
  return { fields: parent, key };
}

function add(document: unknown, path: string, value: unknown, shifted: Count): unknown {
  if (path === '') return value;
  const target = locate(document, path);
  if ('list' in target) {
    shifted(target.list.length - target.index);
    target.list.splice(target.index, 0, value);
  } else target.fields[target.key] = value;
  return document;
}

function remove(document: unknown, path: string, shifted: Count): unknown {
  if (path === '') return null;
  valueAt(document, path);
  const target = locate(document, path);
  if ('list' in target) {
    shifted(target.list.length - target.index);
    target.list.splice(target.index, 1);
  } else delete target.fields[target.key];
  return document;
}

/** Like the library that Kubernetes uses, sets a missing field; a list item must exist. */
function replace(document: unknown, path: string, value: unknown): unknown {
  if (path === '') return value;
  const target = locate(document, path);
  if ('list' in target) valueAt(document, path);
  if ('list' in target) target.list[target.index] = value;
  else target.fields[target.key] = value;
  return document;
}

function move(document: unknown, from: string, path: string, shifted: Count): unknown {
  const value = valueAt(document, from);
  if (from === path) return document;
  if (path.startsWith(`${from}/`)) throw new OperationError(`${shownPath(from)} cannot move into itself`);
  return add(remove(document, from, shifted), path, value, shifted);
}

type Count = (items: number) => void;

/** Callbacks to account for the cost of operations: every copied value, and the number of shifted list items. */
export interface Costs {
  copied(value: unknown): void;
  shifted: Count;
}

/**
 * Applies an operation of RFC 6902 to `document`, which is mutated, and returns the new document. Reports costs beyond the length of the
 * operation. Throws OperationError.
 */
export function applyOperation(
  document: unknown,
  operation: Partial<Operation> | null,
  { copied, shifted }: Costs,
): unknown {
  const { op, path, from = '', value: given } = complete(operation);
  switch (op) {
    case 'add':
      return add(document, path, structuredClone(given), shifted);
    case 'replace':
      return replace(document, path, structuredClone(given));
    case 'remove':
      return remove(document, path, shifted);
    case 'move':
      return move(document, from, path, shifted);
    case 'copy': {
      const value = valueAt(document, from);
      copied(value);
      return add(document, path, structuredClone(value), shifted);
    }
    default: {
      if (isDeepStrictEqual(valueOrNull(document, path), given)) return document;
      throw new OperationError(`the value at ${shownPath(path)} is different`);
    }
  }
}
