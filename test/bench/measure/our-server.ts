import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { build } from 'esbuild';
import { bundleKubeconfig, functionSettings } from '../../../scripts/build/bundle.ts';
import type { Pki } from '../../../scripts/standalone/pki.ts';
import { eventually } from '../../../shared/base/testing/eventually.ts';
import { freePorts } from '../../fixtures/program.ts';
import type { Stall } from './api-child.ts';
import { RawConnection } from './raw-connection.ts';

export interface OursParts {
  /** Its own, which is made if it is not there. */
  folder: string;
  pki: Pki;
  token: string;
  etcd: string;
  /** The API server that it asks who its user is and which namespaces there are. */
  cluster: string;
}

/** As in the image: what Node needs to read TypeScript is none of the server's memory. */
async function bundled(outfile: string): Promise<string> {
  const entryPoints = [path.join(import.meta.dirname, 'api-child.ts')];
  await Promise.all([
    build({ ...functionSettings, entryPoints, outfile }),
    bundleKubeconfig(path.dirname(outfile)),
  ]);
  return outfile;
}

/** Our API server, on the etcd at `etcd`; resolves when it serves. */
export async function startOurs({ folder, pki, token, etcd, cluster }: OursParts) {
  await mkdir(folder, { recursive: true });
  const file = (name: string) => path.join(folder, name);
  await writeFile(file('ca.crt'), pki.ca);
  for (const [name, text] of [
    ['tls.crt', pki.cert],
    ['tls.key', pki.key],
    ['token', token],
  ] as const)
    await writeFile(file(name), text, { mode: 0o600 });
  const [port] = await freePorts(1);
  const bundle = await bundled(file('api-server.mjs'));
  const began = performance.now();
  const child = fork(bundle, {
    env: {
      ...process.env,
      ARC_API_SERVER: cluster,
      ARC_TOKEN_FILE: file('token'),
      ARC_CA_FILE: file('ca.crt'),
      ARC_TLS_CERT_FILE: file('tls.crt'),
      ARC_TLS_KEY_FILE: file('tls.key'),
      ARC_ETCD_ENDPOINTS: etcd,
      ARC_BIND_ADDRESS: '127.0.0.1',
      ARC_SHUTDOWN_DELAY_SECONDS: '0',
      PORT: String(port),
      // It is asked whether it is ready until it is.
      LOG_LEVEL: 'fatal',
    },
  });
  const exited = once(child, 'exit');
  const url = `https://127.0.0.1:${port}`;
  await eventually('our API server to serve', 60_000, async () => {
    if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}`);
    const connection = await RawConnection.open(url, pki.ca, token);
    await connection.send('GET', '/readyz').finally(() => connection.close());
  });
  return {
    url,
    /** Seconds from the start of its process until then. */
    readyAfter: (performance.now() - began) / 1_000,
    tokenFile: file('token'),
    caFile: file('ca.crt'),
    pid: child.pid ?? 0,
    async stall() {
      const answer = once(child, 'message', { signal: AbortSignal.timeout(10_000) });
      child.send('stall');
      const [stall] = (await answer) as [Stall];
      return stall;
    },
    async stop() {
      child.disconnect();
      await exited;
    },
  };
}
