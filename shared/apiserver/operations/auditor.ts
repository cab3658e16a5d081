import { parseJson } from '../request-body.ts';
import { type AuditChoice, type AuditPolicy, chooseAudit, type Stage } from './audit-policy.ts';
import { type Exchange, keepBody } from './exchange.ts';

/** Takes one finished line, without its end. */
export type AuditSink = (line: string) => void;

export interface Auditor {
  /** Called when it is known who wants what; resolves what is recorded of it. */
  begin(exchange: Exchange): AuditedRequest;
}

export interface AuditedRequest {
  /** A watch has begun to answer. */
  started(code: number): void;
  /** The response is there. Its body is read from `response` only where the policy asks for it. */
  complete(response: Response): Promise<void>;
}

/** Bytes of a body that are recorded at most; above it the body is left out. */
const bodyLimit = 1024 * 1024;

/** Writes audit.k8s.io/v1 Events as JSON lines, as much of each request as the policy says. */
export function createAuditor(policy: AuditPolicy, write: AuditSink, now: () => Date): Auditor {
  return {
    begin(exchange) {
      const choice = chooseAudit(policy, exchange);
      const emit = (stage: Stage, more: object) => {
        if (choice.level === 'None' || choice.omitStages.has(stage)) return;
        write(JSON.stringify({ ...eventOf(exchange, choice, stage, now()), ...more }));
      };
      emit('RequestReceived', {});
      if (withRequest(choice)) keepBody(exchange);
      return {
        started: (code) => emit('ResponseStarted', { responseStatus: { metadata: {}, code } }),
        async complete(response) {
          if (choice.level === 'None') return;
          const copy = wantsResponse(choice, exchange, response) ? response.clone() : undefined;
          const answer = copy === undefined ? undefined : objectOf(await readUpTo(copy), choice);
          emit('ResponseComplete', {
            responseStatus: { metadata: {}, code: response.status },
            ...bodies(exchange, choice, answer),
          });
        },
      };
    },
  };
}

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

function bodies(exchange: Exchange, choice: AuditChoice, answer: object | undefined): object {
  const request = withRequest(choice) && exchange.body ? objectOf(exchange.body, choice) : undefined;
  return { ...(request && { requestObject: request }), ...(answer && { responseObject: answer }) };
}

function eventOf(exchange: Exchange, choice: AuditChoice, stage: Stage, now: Date): object {
  const { attributes, asking, user, decision, connection, request, url } = exchange;
  const impersonated = user !== undefined && asking !== undefined && user !== asking;
  const agent = request.headers.get('user-agent');
  return {
    kind: 'Event',
    apiVersion: 'audit.k8s.io/v1',
    level: choice.level,
    auditID: exchange.auditId,
    stage,
    requestURI: `${url.pathname}${url.search}`,
    verb: attributes?.verb ?? request.method.toLowerCase(),
    user: userInfo(asking),
    ...(impersonated && { impersonatedUser: userInfo(user) }),
    ...(connection && { sourceIPs: [connection.address] }),
    ...(agent !== null && { userAgent: agent.slice(0, 1024) }),
    ...(attributes?.resource && { objectRef: objectRef(attributes) }),
    requestReceivedTimestamp: micro(exchange.receivedAt),
    stageTimestamp: micro(now),
    ...(decision && {
      annotations: {
        'authorization.k8s.io/decision': decision.allowed ? 'allow' : 'forbid',
        'authorization.k8s.io/reason': decision.reason,
      },
    }),
  };
}

function userInfo(user: Exchange['user']): object {
  if (user === undefined) return {};
  const { name, groups, uid, extra } = user;
  return { username: name, groups, ...(uid && { uid }), ...(extra && { extra }) };
}

function objectRef(attributes: Extract<NonNullable<Exchange['attributes']>, { resource: true }>): object {
  const { plural, namespace, name, group, version, subresource } = attributes;
  return {
    resource: plural,
    ...(namespace && { namespace }),
    ...(name && { name }),
    ...(group && { apiGroup: group }),
    apiVersion: version,
    ...(subresource && { subresource }),
  };
}

/** metav1.MicroTime. */
function micro(time: Date): string {
  return time.toISOString().replace('Z', '000Z');
}

/** The object in a body; undefined for what is too large or no JSON. */
function objectOf(bytes: Uint8Array | undefined, choice: AuditChoice): object | undefined {
  if (bytes === undefined || bytes.byteLength > bodyLimit) return undefined;
  let value: unknown;
  try {
    ({ value } = parseJson(new TextDecoder().decode(bytes)));
  } catch {
    return undefined; // YAML, protobuf, or not well-formed: the code of the answer tells
  }
  if (typeof value !== 'object' || value === null) return undefined;
  if (choice.omitManagedFields) dropManagedFields(value);
  return value;
}

function dropManagedFields(value: object): void {
  const { metadata, items } = value as { metadata?: { managedFields?: unknown }; items?: unknown };
  if (typeof metadata === 'object' && metadata !== null) delete metadata.managedFields;
  if (Array.isArray(items))
    for (const item of items) if (typeof item === 'object' && item) dropManagedFields(item);
}

async function readUpTo(response: Response): Promise<Uint8Array | undefined> {
  if (!response.body) return undefined;
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body) {
    size += chunk.byteLength;
    if (size > bodyLimit) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
