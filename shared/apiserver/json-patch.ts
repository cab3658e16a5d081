import { isDeepStrictEqual } from 'node:util';
import { isRecord } from './request-body.ts';

/** One operation of RFC 6902, already known to have what its `op` needs. */
export interface Operation {
  op: 'add' | 'replace' | 'test' | 'remove' | 'move' | 'copy';
  path: string;
  from?: string;
  value?: unknown;
}

const pointer = /^\/|^$/;
const badEscape = /~(?![01])/;

/** True for an operation that is well-formed, whether or not it fits a document. */
export function isOperation(value: unknown): value is Operation {
  if (!isRecord(value) || !isPointer(value.path)) return false;
  switch (value.op) {
    case 'add':
    case 'replace':
    case 'test':
      return value.value !== undefined;
    case 'move':
    case 'copy':
      return isPointer(value.from);
    default:
      return value.op === 'remove';
  }
}

function isPointer(value: unknown): value is string {
  return typeof value === 'string' && pointer.test(value) && !badEscape.test(value);
}

function stepsOf(path: string): string[] {
  const steps = path.split('/').slice(1);
  return path.includes('~') ? steps.map((step) => step.replace(/~1/g, '/').replace(/~0/g, '~')) : steps;
}

/** An operation that cannot be carried out on the document; the message says why. */
export class UnfitOperation extends Error {}

const missing = (path: string) => new UnfitOperation(`${shownPath(path)} does not exist`);

function shownPath(path: string): string {
  return path.length > 200 ? `${path.slice(0, 200)}…` : path || 'the document';
}

/** Where a pointer ends: in an object or an array. `key` is an own key of nothing yet. */
type Place = { list: unknown[]; index: number } | { fields: Record<string, unknown>; key: string };

/** The value below a step; own properties alone, array indexes as plain decimals. */
function child(parent: unknown, step: string): { value: unknown } | undefined {
  if (Array.isArray(parent)) {
    const index = indexOf(step, parent.length);
    return index !== undefined && index < parent.length ? { value: parent[index] } : undefined;
  }
  return isRecord(parent) && Object.hasOwn(parent, step) ? { value: parent[step] } : undefined;
}

/** Negative indexes count from the end, as in the library that Kubernetes uses. */
function indexOf(step: string, length: number): number | undefined {
  if (!/^(0|-?[1-9]\d{0,8})$/.test(step)) return undefined;
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

/** A field that is not there passes for null, where its object is there. */
function valueOrNull(document: unknown, path: string): unknown {
  if (path === '') return document;
  const place = placeOf(document, path);
  if ('list' in place) return valueAt(document, path);
  return Object.hasOwn(place.fields, place.key) ? place.fields[place.key] : null;
}

function placeOf(document: unknown, path: string): Place {
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
  // An own property of that name would be lost or taken for the prototype later.
  if (key === '__proto__') throw new UnfitOperation('"__proto__" cannot be a field');
  return { fields: parent, key };
}

function add(document: unknown, path: string, value: unknown): unknown {
  if (path === '') return value;
  const place = placeOf(document, path);
  if ('list' in place) place.list.splice(place.index, 0, value);
  else place.fields[place.key] = value;
  return document;
}

function remove(document: unknown, path: string): unknown {
  if (path === '') return null;
  valueAt(document, path);
  const place = placeOf(document, path);
  if ('list' in place) place.list.splice(place.index, 1);
  else delete place.fields[place.key];
  return document;
}

/** A field that is not there is set, as in the library that Kubernetes uses; an item must be there. */
function replace(document: unknown, path: string, value: unknown): unknown {
  if (path === '') return value;
  const place = placeOf(document, path);
  if ('list' in place) valueAt(document, path);
  if ('list' in place) place.list[place.index] = value;
  else place.fields[place.key] = value;
  return document;
}

function move(document: unknown, from: string, path: string): unknown {
  const value = valueAt(document, from);
  if (from === path) return document;
  if (path.startsWith(`${from}/`)) throw new UnfitOperation(`${shownPath(from)} cannot move into itself`);
  return add(remove(document, from), path, value);
}

/**
 * Carries out one operation of RFC 6902 on `document`, which is changed, and returns the document there is then.
 * Costs what the operation names, not what the document holds: a body may have ten thousand of them. `copied` is told
 * each value that is copied, so that a caller can count. Throws UnfitOperation.
 */
export function applyOperation(
  document: unknown,
  operation: Operation,
  copied: (value: unknown) => void,
): unknown {
  const { op, path, from = '' } = operation;
  switch (op) {
    case 'add':
      return add(document, path, structuredClone(operation.value));
    case 'replace':
      return replace(document, path, structuredClone(operation.value));
    case 'remove':
      return remove(document, path);
    case 'move':
      return move(document, from, path);
    case 'copy': {
      const value = valueAt(document, from);
      copied(value);
      return add(document, path, structuredClone(value));
    }
    default: {
      if (isDeepStrictEqual(valueOrNull(document, path), operation.value)) return document;
      throw new UnfitOperation(`the value at ${shownPath(path)} is another`);
    }
  }
}
