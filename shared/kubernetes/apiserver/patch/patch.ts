import { yieldToEventLoop } from '#shared/base/async';
import { ArcError, bytesText } from '#shared/base/errors';
import { applyMergePatch, isRecord } from '#shared/base/meta';
import { bodyLimit, parseBody, parseJson } from '../codec/parse-body.ts';
import { badRequest, unsupportedMediaType } from '../errors/api-errors.ts';
import type { IncomingRequest } from '../http/connection.ts';
import { bodyType } from '../http/connection.ts';
import type { KindDefinition, KubeObject } from '../kinds/definition.ts';
import { type BodySource, readBody } from '../request/request-body.ts';
import { applyOperation, type Costs, isOperation, type Operation } from './json-patch.ts';
import { strategicMerge } from './strategic-merge.ts';

const jsonType = 'application/json-patch+json';
const mergeType = 'application/merge-patch+json';
const strategicType = 'application/strategic-merge-patch+json';
const applyType = 'application/apply-patch+yaml';
const operationLimit = 10_000;

/** Operations from the client; an incomplete operation fails when it is applied. */
type Operations = readonly (Partial<Operation> | null)[];

/** A parsed patch, which can be applied repeatedly. */
export type Patch =
  | { type: 'merge' | 'strategic'; changes: Record<string, unknown>; duplicates: string[] }
  | { type: 'json'; operations: Operations; duplicates: string[] };

/**
 * Returns the media type of a patch. Throws UnsupportedMediaType for unknown types, and for strategic merge patches of other than core kinds,
 * so that clients fall back to a merge patch.
 */
export function patchType(request: IncomingRequest, definition: KindDefinition): string {
  const type = bodyType(request);
  const accepted = [jsonType, mergeType, ...(definition.group === '' ? [strategicType] : []), applyType];
  if (!accepted.includes(type)) throw unsupportedMediaType(accepted);
  return type;
}

/** Tells whether a patch is a server-side apply. */
export function isApply(type: string): boolean {
  return type === applyType;
}

/** Parses the body of a patch. Rejects with UnsupportedMediaType, BadRequest or RequestEntityTooLarge. */
export async function readPatch(request: BodySource, definition: KindDefinition): Promise<Patch> {
  const type = patchType(request.raw, definition);
  const { value, duplicates } = await parseBody(await readBody(request), 'application/json');
  if (type !== jsonType) {
    if (!isRecord(value)) throw badRequest('a merge patch must be a JSON object');
    return { type: type === mergeType ? 'merge' : 'strategic', changes: value, duplicates };
  }
  if (value === null) return { type: 'json', operations: [], duplicates };
  if (!Array.isArray(value) || !value.every(isOperation)) {
    throw badRequest('a JSON patch must be a list of operations, whose op, path and from are strings');
  }
  if (value.length > operationLimit) {
    const message = `The allowed maximum operations in a JSON patch is ${operationLimit}, got ${value.length}`;
    throw new ArcError('RequestEntityTooLarge', message);
  }
  return { type: 'json', operations: value, duplicates };
}

/** Returns the patched object before validation. Does not mutate `object`. Throws Invalid if an operation cannot be applied. */
export async function applyPatch(
  patch: Patch,
  object: KubeObject,
  definition: KindDefinition,
): Promise<unknown> {
  if (patch.type === 'json') return applyOperations(patch.operations, object, definition);
  return patch.type === 'merge'
    ? applyMergePatch(object, patch.changes)
    : strategicMerge(object, patch.changes);
}

/** Operations between two yields to the event loop. */
const operationBatch = 200;

/** Limit of list items that the operations of a patch may shift: 10,000 operations on a list of 1,000 items. */
const shiftLimit = 10_000_000;

/** Limits copies, each of which may double the document, and insertions, each of which shifts the rest of a list. */
function limitedCosts(): Costs {
  let copies = 0;
  let shifts = 0;
  return {
    copied(value) {
      copies += JSON.stringify(value ?? null).length;
      if (copies > bodyLimit)
        throw tooLarge(`the copies of a JSON patch may not exceed ${bytesText(bodyLimit)} in total`);
    },
    shifted(items) {
      shifts += items;
      if (shifts > shiftLimit)
        throw tooLarge(
          'the JSON patch inserts and removes too much in long lists: replace the lists instead',
        );
    },
  };
}

const tooLarge = (message: string) => new ArcError('RequestEntityTooLarge', message);

async function applyOperations(
  operations: Operations,
  object: KubeObject,
  definition: KindDefinition,
): Promise<unknown> {
  let document: unknown = structuredClone(object);
  const costs = limitedCosts();
  for (const [index, operation] of operations.entries()) {
    if (index % operationBatch === operationBatch - 1) await yieldToEventLoop();
    try {
      document = applyOperation(document, operation, costs);
    } catch (caught) {
      throw caught instanceof ArcError ? caught : operationFailed(operation, index, definition, caught);
    }
  }
  if (!isRecord(document)) {
    const message =
      'the server rejected our request due to an error in our request: the patch removes the whole object';
    throw new ArcError('Invalid', message, { details: {} });
  }
  const text = JSON.stringify(document);
  if (text.length > bodyLimit) throw tooLarge(`the patched object exceeds ${bytesText(bodyLimit)}`);
  // A patch can exceed the limits of a body, such as its nesting depth.
  return parseJson(text).value;
}

function operationFailed(
  operation: Partial<Operation> | null,
  index: number,
  definition: KindDefinition,
  caught: unknown,
): ArcError {
  const reason = caught instanceof Error ? caught.message : String(caught);
  const message = `the server rejected our request due to an error in our request: operation ${index} (${operation?.op ?? 'nothing'} ${(operation?.path ?? '').slice(0, 200)}) does not fit the ${definition.kind}: ${reason}`;
  return new ArcError('Invalid', message, { details: {}, cause: caught });
}
