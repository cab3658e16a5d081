import { ArcError } from '#shared/base/errors';

/** PEM texts. Without `ca` the roots that Node ships are trusted; `cert` and `key` come together or not at all. */
export interface EtcdTls {
  ca?: string;
  cert?: string;
  key?: string;
}

/** Refuses what could only fail later, and less clearly: no endpoint, odd URLs, http mixed with https, half a key pair. */
export function checkEndpoints(endpoints: readonly string[], tls: EtcdTls | undefined): void {
  if (endpoints.length === 0) throw bad('name at least one etcd endpoint, such as http://127.0.0.1:2379');
  for (const endpoint of endpoints) checkEndpoint(endpoint);
  const secure = endpoints.filter((endpoint) => endpoint.startsWith('https:')).length;
  if (secure > 0 && secure < endpoints.length) throw bad('etcd endpoints must be all http or all https');
  if (!tls) return;
  if (secure === 0) throw bad('etcd TLS files were given, but the endpoints are http');
  if ((tls.cert === undefined) !== (tls.key === undefined))
    throw bad('an etcd client certificate and its key must be given together');
}

function checkEndpoint(endpoint: string): void {
  const url = URL.parse(endpoint);
  if (!url || !['http:', 'https:'].includes(url.protocol) || !/:\d+\/?$/.test(endpoint))
    throw bad(`etcd endpoint ${JSON.stringify(endpoint)} must look like https://host:2379`);
  if (url.username || url.password) throw bad('an etcd endpoint must not hold a user name or password');
}

function bad(message: string): ArcError {
  return new ArcError('BadRequest', message);
}
