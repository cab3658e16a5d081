import { ArcError } from '#shared/errors';
import type { KindDefinition, KubeObject } from './definition.ts';
import { applyOperation, isOperation, type Operation } from './json-patch.ts';
import { unsupportedType } from './object-input.ts';
import { bodyLimit, bodyType, isRecord, parseBody, parseJson, readBody } from './request-body.ts';
import { badRequest } from './status.ts';
import { strategicMerge } from './strategic-merge.ts';

const jsonType = 'application/json-patch+json';
const mergeType = 'application/merge-patch+json';
const strategicType = 'application/strategic-merge-patch+json';
const operationLimit = 10_000;

/** A patch that can be applied again and again, to whatever state the object is found in. */
export type Patch =
  | { type: 'merge' | 'strategic'; changes: Record<string, unknown>; duplicates: string[] }
  | { type: 'json'; operations: Operation[]; duplicates: string[] };

/**
 * Reads a patch body; rejects with UnsupportedMediaType, BadRequest or RequestEntityTooLarge. Strategic merge exists for
 * the core kinds alone: for all others clients fall back from it, and from apply, on exactly this 415.
 */
export async function readPatch(request: Request, definition: KindDefinition): Promise<Patch> {
  const type = bodyType(request);
  const accepted = [jsonType, mergeType, ...(definition.group === '' ? [strategicType] : [])];
  if (!accepted.includes(type)) throw unsupportedType(accepted);
  const { value, duplicates } = parseBody(await readBody(request), 'application/json');
  if (type !== jsonType) {
    if (!isRecord(value)) throw badRequest('a merge patch must be a JSON object');
    return { type: type === mergeType ? 'merge' : 'strategic', changes: value, duplicates };
  }
  if (!Array.isArray(value) || !value.every(isOperation)) {
    throw badRequest(
      'a JSON patch must be a list of operations, each with an op, a path and what the op needs',
    );
  }
  if (value.length > operationLimit) {
    const message = `The allowed maximum operations in a JSON patch is ${operationLimit}, got ${value.length}`;
    throw new ArcError('RequestEntityTooLarge', message);
  }
  return { type: 'json', operations: value, duplicates };
}

/** The patched object, not yet judged. `object` is not changed. Rejects with Invalid when an operation does not fit. */
export function applyPatch(patch: Patch, object: KubeObject, definition: KindDefinition): unknown {
  if (patch.type === 'json') return applyOperations(patch.operations, object, definition);
  return patch.type === 'merge' ? mergePatch(object, patch.changes) : strategicMerge(object, patch.changes);
}

/** RFC 7386: objects are merged, null removes, everything else replaces. */
export function mergePatch(target: unknown, changes: unknown): unknown {
  if (!isRecord(changes)) return changes;
  const merged = new Map(isRecord(target) ? Object.entries(target) : []);
  for (const [key, change] of Object.entries(changes)) {
    if (change === null) merged.delete(key);
    else merged.set(key, mergePatch(merged.get(key), change));
  }
  return Object.fromEntries(merged);
}

/** Operations are few, but each copy may double the document: what they copy is counted. */
function applyOperations(operations: Operation[], object: KubeObject, definition: KindDefinition): unknown {
  let document: unknown = structuredClone(object);
  let copied = 0;
  const count = (value: unknown) => {
    copied += JSON.stringify(value ?? null).length;
    if (copied <= bodyLimit) return;
    throw new ArcError(
      'RequestEntityTooLarge',
      `the copies of a JSON patch may not exceed ${bodyLimit} bytes in all`,
    );
  };
  for (const [index, operation] of operations.entries()) {
    try {
      document = applyOperation(document, operation, count);
    } catch (caught) {
      throw caught instanceof ArcError ? caught : unfitting(operation, index, definition, caught);
    }
  }
  const text = JSON.stringify(document ?? null);
  if (text.length > bodyLimit)
    throw new ArcError('RequestEntityTooLarge', `the patched object exceeds ${bodyLimit} bytes`);
  // Nesting grows with patches, too: the same limits hold as for a body.
  return parseJson(text).value;
}

function unfitting(
  operation: Operation,
  index: number,
  definition: KindDefinition,
  caught: unknown,
): ArcError {
  const why = caught instanceof Error ? caught.message : String(caught);
  const message = `the server rejected our request due to an error in our request: operation ${index} (${operation.op} ${operation.path.slice(0, 200)}) does not fit the ${definition.kind}: ${why}`;
  return new ArcError('Invalid', message, { details: {}, cause: caught });
}
