import { printableJson } from '#shared/base/errors';
import { isRecord } from '#shared/base/meta';
import { parseBody } from '../codec/parse-body.ts';
import { toStatus } from '../errors/status.ts';
import { bodyType } from '../http/connection.ts';
import type { ApiRequest } from '../request/api-request.ts';
import { auditEvent } from './audit-event.ts';
import { type AuditChoice, type AuditPolicy, chooseAudit, type Stage } from './audit-policy.ts';

/** Writes a line, without its newline. */
export type AuditSink = (line: string) => void;

/** Records the stages of a request, named as in audit.k8s.io/v1. */
export interface RequestAudit {
  /** Evaluates the policy, which requires user and verb, and records RequestReceived. Further calls do nothing. */
  requestReceived(): void;
  /** Records ResponseStarted of a watch. */
  responseStarted(code: number): void;
  /**
   * Records ResponseComplete; for a watch, call when it ends. Reads the body of `response` only if the policy records it.
   * @param failure the error that the response reports
   */
  responseComplete(response: Response, failure?: unknown): Promise<void>;
  /** Records Panic, the last stage after an internal error. */
  panic(): void;
}

/** Starts the audit of a request. */
export type Auditor = (request: ApiRequest) => RequestAudit;

/** Returns an auditor that writes audit.k8s.io/v1 Events as JSON lines, as selected by the policy. */
export function createAuditor(policy: AuditPolicy, write: AuditSink, now: () => Date): Auditor {
  return (request) => {
    let choice = notRecorded;
    const emit = (stage: Stage, more: object, notes?: Record<string, string>) => {
      if (choice.level === 'None' || choice.omitStages.has(stage)) return;
      const event = { ...auditEvent(request, choice, stage, now(), notes), ...more };
      write(printableJson(JSON.stringify(event)));
    };
    return {
      requestReceived() {
        if (choice !== notRecorded) return;
        choice = chooseAudit(policy, request);
        emit('RequestReceived', {});
      },
      responseStarted: (code) => emit('ResponseStarted', { responseStatus: { metadata: {}, code } }),
      async responseComplete(response, failure) {
        if (choice.level === 'None' || choice.omitStages.has('ResponseComplete')) return;
        const clone = recordsResponse(choice, request, response) ? response.clone() : undefined;
        const received = recordsRequest(choice) ? await requestBody(request, choice) : undefined;
        const sent = clone && (await auditedBody(await readUpToLimit(clone), 'application/json', choice));
        const more = {
          responseStatus: statusOf(response, failure),
          ...(received?.object && { requestObject: received.object }),
          ...(sent?.object && { responseObject: sent.object }),
        };
        const isTruncated = received?.truncated === true || sent?.truncated === true;
        emit('ResponseComplete', more, isTruncated ? truncated : {});
      },
      panic: () => emit('Panic', { responseStatus: panicked }),
    };
  };
}

const notRecorded: AuditChoice = { level: 'None', omitStages: new Set(), omitManagedFields: false };

/** Annotation of an event without a body that was too large, as in kube-apiserver. */
const truncated = { 'audit.k8s.io/truncated': 'true' };

/** Omits the error, which readers of the audit log may not be allowed to see. */
const panicked = {
  metadata: {},
  status: 'Failure',
  message: 'internal error; see the log of the API server',
  reason: 'InternalError',
  code: 500,
};

function recordsRequest({ level }: AuditChoice): boolean {
  return level === 'Request' || level === 'RequestResponse';
}

function recordsResponse(choice: AuditChoice, { info }: ApiRequest, response: Response): boolean {
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
  return (
    choice.level === 'RequestResponse' && info?.isResourceRequest === true && info.verb !== 'watch' && isJson
  );
}

async function requestBody({ body, raw }: ApiRequest, choice: AuditChoice): Promise<AuditedBody | undefined> {
  return body && auditedBody(body, bodyType(raw), choice);
}

/** Returns the response status, with the error if any. */
function statusOf({ status: code }: Response, failure: unknown): object {
  if (failure === undefined) return { metadata: {}, code };
  const { status, message, reason, details } = toStatus(failure);
  return { metadata: {}, status, message, reason, ...(details && { details }), code };
}

/** Size limit of recorded bodies. */
const maxRecordedBytes = 1024 * 1024;

/** A body to record: `object` if it is an object, `truncated` if it is too large. */
export interface AuditedBody {
  object?: object;
  truncated: boolean;
}

/** Parses a body to record. @param type media type; YAML is recorded as JSON */
export async function auditedBody(
  bytes: Uint8Array,
  type: string,
  choice: AuditChoice,
): Promise<AuditedBody> {
  if (bytes.byteLength > maxRecordedBytes) return { truncated: true };
  let value: unknown;
  try {
    ({ value } = await parseBody(bytes, type));
  } catch {
    return { truncated: false }; // protobuf or malformed
  }
  if (typeof value !== 'object' || value === null) return { truncated: false };
  if (choice.omitManagedFields) dropManagedFields(value);
  return { object: value, truncated: false };
}

function dropManagedFields(value: object): void {
  const { metadata, items } = value as { metadata?: unknown; items?: unknown };
  if (isRecord(metadata)) delete metadata.managedFields;
  if (Array.isArray(items)) for (const item of items) if (isRecord(item)) dropManagedFields(item);
}

/** Reads the body of a response up to the size limit. */
export async function readUpToLimit(response: Response): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    chunks.push(chunk);
    if (size > maxRecordedBytes) break;
  }
  return Buffer.concat(chunks);
}
