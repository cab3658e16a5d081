import tls from 'node:tls';

const limitMs = 2000;
/** Node's error codes for a response that is not TLS. */
const notTls = new Set(['EPROTO', 'ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_SSL_PACKET_LENGTH_TOO_LONG']);

/** True if the server at a local host completes a TLS handshake, whatever its certificate. Never rejects; takes at most two seconds. */
export function speaksTls(origin: string): Promise<boolean> {
  const { hostname, port } = new URL(origin);
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = tls.connect({
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? 443 : Number(port),
    // Only the protocol matters here: the transfer checks the certificate.
    rejectUnauthorized: false,
  });
  const end = (result: boolean): void => {
    socket.destroy();
    resolve(result);
  };
  socket.setTimeout(limitMs, () => end(false));
  socket.once('secureConnect', () => end(true));
  socket.once('close', () => end(false));
  // A TLS alert, such as for a missing client certificate, is TLS.
  socket.once('error', ({ code = '' }: NodeJS.ErrnoException) =>
    end(code.startsWith('ERR_SSL_') && !notTls.has(code)),
  );
  return promise;
}
