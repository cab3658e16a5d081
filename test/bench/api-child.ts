/** The API server on its embedded store, alone in a process: nobody reacts to what is written. */
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { serve } from '#shared/apiserver';
import { openEmbeddedStore } from '#shared/storage';
import { createLogger } from '#shared/telemetry';
import { composeApi } from '../../scripts/standalone/compose-api.ts';
import { loadIdentities } from '../../scripts/standalone/identities.ts';
import { writeKubeconfig } from '../../scripts/standalone/kubeconfig.ts';
import { loadPki } from '../../scripts/standalone/pki.ts';

const folder = process.argv[2] ?? '';
await mkdir(folder, { recursive: true });
const identities = await loadIdentities(folder, ['admin']);
const pki = await loadPki(folder, new Date());
const store = await openEmbeddedStore({ folder: path.join(folder, 'store') });
const log = createLogger({ name: 'bench', level: 'error' });
const api = await serve(composeApi({ store, identities, manifests: [], log }), {
  certificate: pki,
  host: '127.0.0.1',
  port: 0,
});
const kubeconfig = path.join(folder, 'kubeconfig');
await writeKubeconfig(kubeconfig, {
  server: `https://127.0.0.1:${api.port}`,
  ca: pki.ca,
  token: identities.tokenOf('admin'),
});
process.on('disconnect', () => process.exit(0));
process.send?.({ ready: kubeconfig });
