/** A connection that the other side ended without an answer, in words: what happened, and what to check. */
export interface ConnectionEnd {
  text: string;
  /** True: TLS was not agreed on yet. */
  inHandshake: boolean;
}

const ended = new Set(['ECONNRESET', 'EPIPE', 'ECONNABORTED']);
const between = 'what lies between, such as a proxy, a firewall or a load balancer';

/**
 * What to check if `caught` is the end of a connection that neither an alert of TLS nor an answer explains; undefined for every other error. Servers
 * that want a client certificate end connections like that, and so does what has had enough of a long one.
 */
export function connectionEnd(caught: unknown, endpoint: string): ConnectionEnd | undefined {
  const code = caught instanceof Error && 'code' in caught ? String(caught.code) : '';
  if (!(caught instanceof Error) || !ended.has(code)) return undefined;
  const certificate = `tls.crt and tls.key in the Secret of Endpoint "${endpoint}" (spec.secretRef)`;
  if (/before secure TLS connection/.test(caught.message)) {
    const text = `it ended the connection in the TLS handshake and did not say why (${code}): if it requires a client certificate, check ${certificate}; else check its log, and ${between}`;
    return { text, inHandshake: true };
  }
  const limits = `check its log, and limits of time and size of ${between}`;
  if (caught.message === 'aborted')
    return {
      text: `the connection broke off in the middle of its answer (${code}): ${limits}`,
      inHandshake: false,
    };
  const text = `it ended the connection without an answer (${code}): ${limits}; if it requires a client certificate, check ${certificate}`;
  return { text, inHandshake: false };
}
