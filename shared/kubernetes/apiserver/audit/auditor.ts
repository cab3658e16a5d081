import { printableJson } from '#shared/base/errors';
import { isRecord } from '#shared/base/meta';
import { parseBody } from '../codec/parse-body.ts';
import { toStatus } from '../errors/status.ts';
import { bodyType } from '../http/connection.ts';
import type { ApiRequest } from '../request/api-request.ts';
import { auditEvent } from './audit-event.ts';
import { type AuditChoice, type AuditPolicy, chooseAudit, type Stage } from './audit-policy.ts';

/** Takes one finished line, without its end. */
export type AuditSink = (line: string) => void;

/** Records the stages of one request, named as in audit.k8s.io/v1. */
export interface RequestAudit {
  /** User and verb are known: the policy decides what is recorded from here on. Later calls do nothing. */
  requestReceived(): void;
  /** A watch has begun to answer. */
  responseStarted(code: number): void;
  /**
   * The response is there; of a watch: it is over. Its body is read from `response` only where the policy asks for it.
   * `failure` is the error that it reports.
   */
  responseComplete(response: Response, failure?: unknown): Promise<void>;
  /** The server itself has failed; nothing is recorded after it. */
  panic(): void;
}

/** Begins the audit of a request. */
export type Auditor = (request: ApiRequest) => RequestAudit;

/** Writes audit.k8s.io/v1 Events as JSON lines, as much of each request as the policy says. */
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
        const copy = recordsResponse(choice, request, response) ? response.clone() : undefined;
        const received = recordsRequest(choice) ? await requestBody(request, choice) : undefined;
        const sent = copy && (await auditedBody(await readUpTo(copy), 'application/json', choice));
        const more = {
          responseStatus: statusOf(response, failure),
          ...(received?.object && { requestObject: received.object }),
          ...(sent?.object && { responseObject: sent.object }),
        };
        const isCut = received?.truncated === true || sent?.truncated === true;
        emit('ResponseComplete', more, isCut ? truncated : {});
      },
      panic: () => emit('Panic', { responseStatus: panicked }),
    };
  };
}

const notRecorded: AuditChoice = { level: 'None', omitStages: new Set(), omitManagedFields: false };

/** Annotates an event from which a body was left out for its size, as kube-apiserver does. */
const truncated = { 'audit.k8s.io/truncated': 'true' };

/** The error itself is only in the server's log: readers of the audit log may not be allowed to see it. */
const panicked = {
  metadata: {},
  status: 'Failure',
  message: 'the API server failed; its log says why',
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

/** The error is included, which is short; an object never is. */
function statusOf({ status: code }: Response, failure: unknown): object {
  if (failure === undefined) return { metadata: {}, code };
  const { status, message, reason, details } = toStatus(failure);
  return { metadata: {}, status, message, reason, ...(details && { details }), code };
}

/** Larger bodies are not recorded. */
const maxRecordedBytes = 1024 * 1024;

/** A body as it is recorded: `object` if it is one, `truncated` if it is too large. */
export interface AuditedBody {
  object?: object;
  truncated: boolean;
}

/** @param type its media type; YAML is recorded as JSON */
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
    return { truncated: false }; // protobuf, or malformed, which the response code shows
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

/** Reads a response until it is too large to be recorded. */
export async function readUpTo(response: Response): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    chunks.push(chunk);
    if (size > maxRecordedBytes) break;
  }
  return Buffer.concat(chunks);
}
