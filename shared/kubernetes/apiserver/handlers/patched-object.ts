import { ArcError } from '#shared/base/errors';
import type { ParsedBody } from '../codec/parse-body.ts';
import { invalidOf } from '../errors/request-errors.ts';
import type { KubeObject } from '../kinds/definition.ts';
import { apiVersionOf } from '../kinds/verbs.ts';
import type { ResourceRequest } from '../request/api-request.ts';
import { acceptObject } from './object-input.ts';

/**
 * As acceptObject, for the result of a patch. A result that is not an object of the kind is an error of the patch: 422 about
 * `patch`, where a body would cause a 400. The message does not repeat the result, which may be long or secret.
 */
export function acceptPatched(request: ResourceRequest, body: ParsedBody): KubeObject {
  checkRevision(request, body.value);
  checkVersion(request, body.value);
  try {
    return acceptObject(request, body);
  } catch (caught) {
    const why = decodingError(caught);
    if (why === undefined) throw caught;
    const message = `Invalid value: "{…}": ${why}`;
    throw invalidOf('', '', '', [{ reason: 'FieldValueInvalid', message, field: 'patch' }]);
  }
}

function decodingError(caught: unknown): string | undefined {
  if (!ArcError.is(caught, 'BadRequest')) return undefined;
  const decoding = /cannot be handled as a \w+: (.*)$/s.exec(caught.message)?.[1];
  return decoding ?? (caught.message.startsWith("Object 'Kind'") ? caught.message : undefined);
}

function metadataOf(value: unknown): Record<string, unknown> | undefined {
  const metadata = (value as { metadata?: unknown } | null | undefined)?.metadata;
  return typeof metadata === 'object' && metadata !== null
    ? (metadata as Record<string, unknown>)
    : undefined;
}

/** A patch that removes the resourceVersion asks for an unconditional update, which custom resources do not allow. */
function checkRevision(request: ResourceRequest, value: unknown): void {
  const { definition, info } = request;
  const metadata = metadataOf(value);
  if (definition.group === '' || metadata === undefined || metadata.name !== info.name) return;
  if (metadata.resourceVersion) return;
  const message = 'Invalid value: 0: must be specified for an update';
  const field = 'metadata.resourceVersion';
  throw invalidOf(definition.plural, definition.group, info.name, [
    { reason: 'FieldValueInvalid', message, field },
  ]);
}

function checkVersion(request: ResourceRequest, value: unknown): void {
  const { definition, info } = request;
  const expected = apiVersionOf(definition);
  const { apiVersion } = (value ?? {}) as { apiVersion?: unknown };
  if (typeof apiVersion !== 'string' || apiVersion === expected) return;
  const message = `Invalid value: ${JSON.stringify(apiVersion.slice(0, 100))}: must be ${expected}`;
  throw invalidOf(definition.kind, definition.group, info.name, [
    { reason: 'FieldValueInvalid', message, field: 'apiVersion' },
  ]);
}
