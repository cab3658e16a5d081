import { toStatus } from '../errors/status.ts';
import { type Exchange, record } from '../request/exchange.ts';
import { bodyType } from '../request/request-body.ts';
import { auditEvent } from './audit-event.ts';
import { type AuditChoice, type AuditPolicy, chooseAudit, type Stage } from './audit-policy.ts';
import { type AuditedBody, auditedBody, readUpTo } from './audited-body.ts';

/** Takes one finished line, without its end. */
export type AuditSink = (line: string) => void;

export interface Auditor {
  /** Called when it is known who wants what; resolves what is recorded of it. */
  begin(exchange: Exchange): AuditedRequest;
}

export interface AuditedRequest {
  /** A watch has begun to answer. */
  started(code: number): void;
  /**
   * The response is there, of a watch: is over. Its body is read from `response` only where the policy asks for it.
   * `failure` is what was thrown for it.
   */
  complete(response: Response, failure?: unknown): Promise<void>;
  /** The server itself has failed; nothing is recorded after it. */
  panicked(): void;
}

/** Writes audit.k8s.io/v1 Events as JSON lines, as much of each request as the policy says. */
export function createAuditor(policy: AuditPolicy, write: AuditSink, now: () => Date): Auditor {
  return {
    begin(exchange) {
      const choice = chooseAudit(policy, exchange);
      const emit = (stage: Stage, more: object, notes?: Record<string, string>) => {
        if (choice.level === 'None' || choice.omitStages.has(stage)) return;
        write(JSON.stringify({ ...auditEvent(exchange, choice, stage, now(), notes), ...more }));
      };
      emit('RequestReceived', {});
      if (choice.level !== 'None') record(exchange, withRequest(choice));
      return {
        started: (code) => emit('ResponseStarted', { responseStatus: { metadata: {}, code } }),
        async complete(response, failure) {
          if (choice.level === 'None' || choice.omitStages.has('ResponseComplete')) return;
          const answered = wantsResponse(choice, exchange, response) ? response.clone() : undefined;
          const asked = withRequest(choice) ? bodyOf(exchange, choice) : undefined;
          const answer = answered && auditedBody(await readUpTo(answered), 'application/json', choice);
          const more = {
            responseStatus: statusOf(response, failure),
            ...(asked?.object && { requestObject: asked.object }),
            ...(answer?.object && { responseObject: answer.object }),
          };
          const isCut = asked?.truncated === true || answer?.truncated === true;
          emit('ResponseComplete', more, isCut ? truncated : {});
        },
        panicked: () => emit('Panic', { responseStatus: panic }),
      };
    },
  };
}

/** Says that a body was too large to be recorded, as kube-apiserver marks it. */
const truncated = { 'audit.k8s.io/truncated': 'true' };

/** What was thrown is in the log, where nobody reads who may not. */
const panic = {
  metadata: {},
  status: 'Failure',
  message: 'the API server failed; its log says why',
  reason: 'InternalError',
  code: 500,
};

function withRequest({ level }: AuditChoice): boolean {
  return level === 'Request' || level === 'RequestResponse';
}

function wantsResponse(choice: AuditChoice, { attributes }: Exchange, response: Response): boolean {
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
  return (
    choice.level === 'RequestResponse' &&
    attributes?.resource === true &&
    attributes.verb !== 'watch' &&
    isJson
  );
}

function bodyOf({ body, request }: Exchange, choice: AuditChoice): AuditedBody | undefined {
  return body && auditedBody(body, bodyType(request), choice);
}

/** Of a failure also why, which is short; never an object. */
function statusOf({ status: code }: Response, failure: unknown): object {
  if (failure === undefined) return { metadata: {}, code };
  const { status, message, reason, details } = toStatus(failure);
  return { metadata: {}, status, message, reason, ...(details && { details }), code };
}
