import type { Cause } from '#shared/base/errors';
import { isRecord } from '#shared/base/meta';
import { parseBody } from '../codec/parse-body.ts';
import { decodeReview } from '../codec/review-protobuf.ts';
import { badRequest, invalidOf, unsupportedMediaType } from '../errors/api-errors.ts';
import { parsedBodyType } from '../http/connection.ts';
import type { ResourceRequest } from '../request/api-request.ts';
import { readBody } from '../request/request-body.ts';
import { isTrue } from '../request/request-info.ts';
import { isDryRun, wholeNumber } from './query-options.ts';

const protobuf = 'application/vnd.kubernetes.protobuf';

/** metav1.DeleteOptions without gracePeriodSeconds, which has no effect here. */
export interface DeleteOptions {
  /** Undefined: determined by the finalizers of the object, by default Background. */
  policy: 'Orphan' | 'Background' | 'Foreground' | undefined;
  preconditions: { uid?: string; resourceVersion?: string };
  dryRun: boolean;
}

/** Returns the options of the query, overridden by those of the body. Rejects with BadRequest or Invalid. */
export async function readDeleteOptions(request: ResourceRequest): Promise<DeleteOptions> {
  const type = parsedBodyType(request.raw);
  const bytes = await readBody(request);
  if (bytes.byteLength === 0) return optionsOf(queryOptions(request.query));
  if (!['', 'application/json', 'application/yaml', protobuf].includes(type)) {
    throw unsupportedMediaType(['application/json', 'application/yaml']);
  }
  const body = type === protobuf ? decodeReview(bytes) : (await parseBody(bytes, type)).value;
  if (body === undefined || body === null) return optionsOf(queryOptions(request.query));
  if (!isRecord(body)) throw badRequest('the body of a delete must hold DeleteOptions');
  if (body.kind !== undefined && body.kind !== '' && body.kind !== 'DeleteOptions') {
    throw badRequest(`the body of a delete must hold DeleteOptions, not ${JSON.stringify(body.kind)}`);
  }
  const fault = typeFault(body);
  if (fault) throw badRequest(`the body of a delete must hold DeleteOptions: ${fault}`);
  return optionsOf({ ...queryOptions(request.query), ...body });
}

const isText = (value: unknown) => typeof value === 'string';
const isFlag = (value: unknown) => typeof value === 'boolean';
const isInteger = (value: unknown) => Number.isSafeInteger(value);
const isTextList = (value: unknown) => Array.isArray(value) && value.every(isText);

const fieldTypes: [field: string, type: string, matches: (value: unknown) => boolean][] = [
  ['apiVersion', 'a string', isText],
  ['gracePeriodSeconds', 'a whole number', isInteger],
  ['orphanDependents', 'true or false', isFlag],
  ['propagationPolicy', 'a string', isText],
  ['dryRun', 'a list of strings', isTextList],
  ['ignoreStoreReadErrorWithClusterBreakingPotential', 'true or false', isFlag],
  ['preconditions', 'an object', isRecord],
];
const preconditionTypes: typeof fieldTypes = [
  ['uid', 'a string', isText],
  ['resourceVersion', 'a string', isText],
];

/**
 * Describes the first field of a wrong type, which kube-apiserver fails to decode. Ignoring it would delete too much: without the
 * precondition, or including dependents that should be orphaned.
 */
function typeFault(body: Record<string, unknown>): string | undefined {
  const inner = isRecord(body.preconditions) ? body.preconditions : {};
  return faultIn('', fieldTypes, body) ?? faultIn('preconditions.', preconditionTypes, inner);
}

function faultIn(at: string, types: typeof fieldTypes, values: Record<string, unknown>): string | undefined {
  const wrong = types.find(([field, , matches]) => {
    const value = values[field];
    return value !== undefined && value !== null && !matches(value);
  });
  return wrong && `${at}${wrong[0]} must be ${wrong[1]}`;
}

function queryOptions(query: URLSearchParams): Record<string, unknown> {
  const dryRun = query.getAll('dryRun');
  const orphan = query.get('orphanDependents');
  wholeNumber(query, 'gracePeriodSeconds');
  return {
    ...(dryRun.length > 0 && { dryRun }),
    ...(query.get('propagationPolicy') && { propagationPolicy: query.get('propagationPolicy') }),
    ...(orphan !== null && { orphanDependents: isTrue(orphan) }),
  };
}

function optionsOf(given: Record<string, unknown>): DeleteOptions {
  const { propagationPolicy: policy, orphanDependents: orphan, preconditions } = given;
  const causes: Cause[] = [];
  if (policy !== undefined && policy !== null && orphan !== undefined && orphan !== null) {
    const message = `Invalid value: ${JSON.stringify(policy)}: orphanDependents and deletionPropagation cannot be both set`;
    causes.push({ reason: 'FieldValueInvalid', message, field: 'propagationPolicy' });
  }
  if (policy !== undefined && policy !== null && !isPolicy(policy)) {
    const message = `Unsupported value: ${JSON.stringify(policy)}: supported values: "Foreground", "Background", "Orphan", "nil"`;
    causes.push({ reason: 'FieldValueNotSupported', message, field: 'propagationPolicy' });
  }
  if (causes.length > 0) throw invalidOf('DeleteOptions', 'meta.k8s.io', '', causes);
  const legacyPolicy = typeof orphan === 'boolean' ? (orphan ? 'Orphan' : 'Background') : undefined;
  return {
    policy: isPolicy(policy) ? policy : legacyPolicy,
    preconditions: preconditionsOf(preconditions),
    dryRun: dryRunOf(given.dryRun),
  };
}

function isPolicy(value: unknown): value is NonNullable<DeleteOptions['policy']> {
  return value === 'Orphan' || value === 'Background' || value === 'Foreground';
}

/** Expects types that typeFault or the protobuf decoder has checked. */
function preconditionsOf(value: unknown): DeleteOptions['preconditions'] {
  const { uid, resourceVersion } = isRecord(value) ? value : {};
  return {
    ...(typeof uid === 'string' && { uid }),
    ...(typeof resourceVersion === 'string' && { resourceVersion }),
  };
}

function dryRunOf(value: unknown): boolean {
  const values = Array.isArray(value) ? value : [];
  return isDryRun(
    new URLSearchParams(values.map((one): [string, string] => ['dryRun', String(one)])),
    'DeleteOptions',
  );
}
