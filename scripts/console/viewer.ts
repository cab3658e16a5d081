import type { Hono } from 'hono';
import { connectLimitMs } from '#shared/base/async';
import { ArcError } from '#shared/base/errors';
import { isRecord } from '#shared/base/meta';
import { group, isObjectName } from '#shared/domain';
import {
  type ClusterAccess,
  createKubeClient,
  createTransport,
  inClusterAccess,
  nodeFetch,
  type Transport,
} from '#shared/kubernetes/client';
import { createWatches } from '../arcctl/console/model/watches.ts';
import { createPages } from '../arcctl/console/server/app.ts';
import type { ConsoleApp } from '../build/console.ts';
import { version } from '../version/version.ts';
import { dropSession, keepNamespace } from './cookies.ts';
import type { Credential } from './oidc.ts';
import type { Session } from './sessions.ts';

const userAgent = `arc-console/${version}`;
/** Interval of the token checks of a session; ms. */
const checkMs = 30_000;

/** The user that the cluster authenticates a credential as. */
export interface Identity {
  name: string;
  /** True if the user may list the Orders of all namespaces. */
  seesAll: boolean;
}

/** Authenticates a credential at the cluster (SelfSubjectReview). Rejects with Unauthorized if the cluster rejects the token. */
export async function identify(
  env: NodeJS.ProcessEnv,
  credential: Credential,
  signal: AbortSignal,
): Promise<Identity> {
  const access = inClusterAccess(env, () => credential.token());
  const transport = createTransport({ ...access, userAgent });
  const { userInfo } = await review(transport, 'authentication', 'SelfSubjectReview', undefined, signal);
  const name = isRecord(userInfo) ? userInfo.username : undefined;
  if (typeof name !== 'string' || name === '' || name === 'system:anonymous')
    throw new ArcError('Unauthorized', 'the cluster takes this token for nobody');
  const resourceAttributes = { verb: 'list', group, resource: 'orders' };
  const spec = { resourceAttributes };
  const status = await review(transport, 'authorization', 'SelfSubjectAccessReview', spec, signal);
  return { name, seesAll: status.allowed === true };
}

/** Returns the status of a self-subject review. */
async function review(
  transport: Transport,
  of: 'authentication' | 'authorization',
  kind: string,
  spec: object | undefined,
  signal: AbortSignal,
): Promise<Record<string, unknown>> {
  const apiVersion = `${of}.k8s.io/v1`;
  const path = `/apis/${apiVersion}/${kind.toLowerCase()}s`;
  const body = { apiVersion, kind, ...(spec && { spec }) };
  const answer = await transport.send({ method: 'POST', path, body }, signal);
  return isRecord(answer) && isRecord(answer.status) ? answer.status : {};
}

/** Returns the namespace of a ServiceAccount; undefined for other users. */
function accountNamespace(name: string): string | undefined {
  const [system, account, namespace] = name.split(':');
  return system === 'system' && account === 'serviceaccount' ? namespace : undefined;
}

export interface ViewerOptions {
  env: NodeJS.ProcessEnv;
  credential: Credential;
  identity: Identity;
  session: Pick<Session<Viewer>, 'csrf' | 'signal' | 'end'>;
  /** The namespace in the browser's cookie. */
  namespace: string | undefined;
  origin: string;
  front: () => Promise<ConsoleApp>;
}

/** The console of one session, limited to the permissions of its user. */
export interface Viewer {
  /** The pages for the current namespace. */
  readonly pages: Hono;
}

export function createViewer(options: ViewerOptions): Viewer {
  const { env, credential, identity, session, origin, front } = options;
  const access = endingAccess(env, credential, session);
  const [api, transport] = [
    createKubeClient({ ...access, userAgent }),
    createTransport({ ...access, userAgent }),
  ];

  const open = (chosen: string | undefined) => {
    const ending = new AbortController();
    const signal = AbortSignal.any([ending.signal, session.signal]);
    const namespace = chosen ?? (identity.seesAll ? undefined : accountNamespace(identity.name));
    const cluster = {
      api,
      transport,
      server: origin,
      hint: (words: string) => `arcctl ${words}${namespace === undefined ? '' : ` -n ${namespace}`}`,
    };
    const pages = createPages({
      cluster,
      namespace,
      front,
      signal,
      watches: createWatches(api, namespace, signal),
      csrf: session.csrf,
      origin: () => origin,
      viewer: { name: identity.name, mustChoose: namespace === undefined && !identity.seesAll },
    });
    pages.post('/api/namespace', async (c) => {
      const { namespace: next } = await c.req.json<{ namespace?: unknown }>();
      if (typeof next !== 'string' || (next !== '' && !isObjectName(next)))
        throw new ArcError('BadRequest', 'a namespace is lower-case letters, digits and -');
      keepNamespace(c, next);
      current.ending.abort();
      current = open(next === '' ? undefined : next);
      return c.json({});
    });
    pages.post('/api/sign-out', async (c) => {
      dropSession(c);
      session.end();
      // Not awaited: the session is over, whether or not the issuer responds.
      void credential.revoke();
      return c.json({});
    });
    return { pages, ending };
  };
  let current = open(options.namespace);
  // An established watch outlives its token by up to an hour, so the token is checked separately.
  const check = () =>
    void review(transport, 'authentication', 'SelfSubjectReview', undefined, session.signal).catch(() => {});
  const timer = setInterval(check, checkMs).unref();
  session.signal.addEventListener('abort', () => clearInterval(timer), { once: true });
  return {
    get pages() {
      return current.pages;
    },
  };
}

/** Returns access to the cluster with this credential. The session ends when the cluster or the issuer rejects the credential. */
function endingAccess(
  env: NodeJS.ProcessEnv,
  credential: Credential,
  session: Pick<Session<Viewer>, 'end'>,
): ClusterAccess {
  const fetch = nodeFetch(connectLimitMs);
  const token = () =>
    credential.token().catch((caught: unknown) => {
      if (ArcError.is(caught, 'Unauthorized')) session.end();
      throw caught;
    });
  return {
    ...inClusterAccess(env, token),
    async fetch(url, init) {
      const answer = await fetch(url, init);
      if (answer.status === 401) session.end();
      return answer;
    },
  };
}
