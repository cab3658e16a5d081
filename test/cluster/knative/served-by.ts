import { once } from 'node:events';
import tls from 'node:tls';
import { arc } from './conduit.ts';
import { field } from './kubectl.ts';

/** Fingerprint of the certificate that the Service of a part shows. */
export async function servedBy(name: string): Promise<string> {
  const host = await field('{.spec.clusterIP}', '-n', arc, 'service', name);
  const socket = tls.connect({ host, port: 443, rejectUnauthorized: false });
  try {
    await once(socket, 'secureConnect');
    return socket.getPeerX509Certificate()?.fingerprint256 ?? '';
  } finally {
    socket.destroy();
  }
}
