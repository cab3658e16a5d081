/** A connection that the peer closed without a response: what happened, and what to check. */
export interface ConnectionEnd {
  text: string;
  /** True if the TLS handshake was not complete. */
  inHandshake: boolean;
}

const ended = new Set(['ECONNRESET', 'EPIPE', 'ECONNABORTED']);
const between = 'proxies, firewalls and load balancers in between';

/**
 * Explains a connection that closed without a TLS alert or a response, and what to check; undefined for every other error. Servers that
 * require a client certificate close connections this way, and so do proxies with a time limit.
 */
export function connectionEnd(caught: unknown, endpoint: string): ConnectionEnd | undefined {
  const code = caught instanceof Error && 'code' in caught ? String(caught.code) : '';
  if (!(caught instanceof Error) || !ended.has(code)) return undefined;
  const certificate = `tls.crt and tls.key in the Secret of Endpoint "${endpoint}" (spec.secretRef)`;
  if (/before secure TLS connection/.test(caught.message)) {
    const text = `it closed the connection during the TLS handshake without a reason (${code}): if it requires a client certificate, check ${certificate}; otherwise check its log, and ${between}`;
    return { text, inHandshake: true };
  }
  const limits = `check its log, and time and size limits of ${between}`;
  if (caught.message === 'aborted')
    return {
      text: `the connection closed in the middle of the response (${code}): ${limits}`,
      inHandshake: false,
    };
  const text = `it closed the connection without a response (${code}): ${limits}; if it requires a client certificate, check ${certificate}`;
  return { text, inHandshake: false };
}
