import { subscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { answerChannel, callChannel } from '#shared/kubernetes/apiserver';
import { answeredChannel, sentChannel } from '../../../scripts/standalone/send-event.ts';

/** What has gone over HTTP between the parts of a standalone. */
export interface ExchangeCount {
  /** Requests to ARC's API by parts of ARC; what a cluster provides (garbage collector, Argo) and users are left out. */
  requests: number;
  /** The same to every API, of which Secrets, Workflows and Events are in the cluster's; without the bridge's lists and watches. */
  allRequests: number;
  /** Writes among these that were refused with 409. */
  conflicts: number;
  /** Events given to functions. */
  deliveries: number;
  /** Both one by one, for those who look for what to save: `<part> <method> <collection>`, and `<kind>/<reason>`. */
  detail: Record<string, number>;
}

const group = '/apis/arc.opendefense.cloud/v1alpha1/';
const others = /^(argo|kube-system)\//;

/** Counts the requests that every HTTP server of this process takes and those that need none, from now on. */
export function countExchanges(): ExchangeCount {
  const count: ExchangeCount = { requests: 0, allRequests: 0, conflicts: 0, deliveries: 0, detail: {} };
  const note = (what: string) => {
    count.detail[what] = (count.detail[what] ?? 0) + 1;
  };
  const take = (message: unknown) => {
    const { method = '', url = '', headers } = (message as { request: IncomingMessage }).request;
    // The broker asks for a reply; nobody else does.
    if (headers.prefer === 'reply') {
      count.deliveries += 1;
      note(`${headers['ce-kind']}/${headers['ce-step']}`);
      return;
    }
    const part = partOf(headers);
    if (part === undefined) return;
    note(`${part} ${method} ${collectionOf(url)}`);
    if (others.test(part) || !/^\/apis?\//.test(url)) return;
    if (url.startsWith(group)) count.requests += 1;
    if (part !== 'watch-bridge' || method !== 'GET') count.allRequests += 1;
  };
  const answer = (message: unknown) => {
    const { request, response } = message as { request: IncomingMessage; response: ServerResponse };
    const { method = '', url = '', headers } = request;
    const part = partOf(headers);
    if (part === undefined || others.test(part) || response.statusCode !== 409) return;
    count.conflicts += 1;
    note(`409 for ${part} ${method} ${collectionOf(url)}`);
  };
  subscribe('http.server.request.start', take);
  subscribe('http.server.response.finish', answer);
  subscribe(callChannel, take);
  subscribe(answerChannel, answer);
  subscribe(sentChannel, take);
  return count;
}

/** The part of ARC that has sent a request; undefined for anybody else. */
function partOf(headers: IncomingMessage['headers']): string | undefined {
  const agent = headers['user-agent'] ?? '';
  return agent.startsWith('arc-') && agent !== 'arc-admin' ? agent.slice(4) : undefined;
}

/** Notes when functions have answered events, from now on: ms since the epoch, by the name of the woken object. */
export function noteAnswers(): ReadonlyMap<string, number> {
  const answers = new Map<string, number>();
  subscribe(answeredChannel, (message) => {
    const { headers } = (message as { request: IncomingMessage }).request;
    if (headers.prefer === 'reply') answers.set(String(headers['ce-name']), Date.now());
  });
  return answers;
}

function collectionOf(url: string): string {
  const { pathname, searchParams } = new URL(url, 'http://localhost');
  const [, plural = '', name, subresource] =
    /(?:\/v1|\/v1alpha1)(?:\/namespaces\/[^/]+)?\/([^/]+)(?:\/([^/]+))?(?:\/([^/]+))?$/.exec(pathname) ?? [];
  const what = searchParams.has('watch') ? ' (watch)' : name === undefined ? '' : ' by name';
  return `${plural}${subresource === undefined ? '' : `/${subresource}`}${what}`;
}
