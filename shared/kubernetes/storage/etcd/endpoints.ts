import { ArcError } from '#shared/base/errors';

/** PEM. Without `ca`, the root certificates of Node are trusted; `cert` and `key` must be set together. */
export interface EtcdTls {
  ca?: string;
  cert?: string;
  key?: string;
}

/** Throws BadRequest for no endpoints, invalid URLs, http mixed with https, and a certificate without its key or vice versa. */
export function checkEndpoints(endpoints: readonly string[], tls: EtcdTls | undefined): void {
  if (endpoints.length === 0)
    throw badRequest('at least one etcd endpoint is required, such as http://127.0.0.1:2379');
  for (const endpoint of endpoints) checkEndpoint(endpoint);
  const secure = endpoints.filter((endpoint) => endpoint.startsWith('https:')).length;
  if (secure > 0 && secure < endpoints.length)
    throw badRequest('etcd endpoints must be all http or all https');
  if (!tls) return;
  if (secure === 0) throw badRequest('etcd TLS files are set, but the endpoints are http');
  if ((tls.cert === undefined) !== (tls.key === undefined))
    throw badRequest('an etcd client certificate and its key must be set together');
}

function checkEndpoint(endpoint: string): void {
  const url = URL.parse(endpoint);
  if (!url || !['http:', 'https:'].includes(url.protocol) || !/:\d+\/?$/.test(endpoint))
    throw badRequest(`etcd endpoint ${JSON.stringify(endpoint)} must look like https://host:2379`);
  if (url.username || url.password)
    throw badRequest('an etcd endpoint must not contain a user name or password');
}

function badRequest(message: string): ArcError {
  return new ArcError('BadRequest', message);
}
