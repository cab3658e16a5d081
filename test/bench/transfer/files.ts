import { randomBytes } from 'node:crypto';
import { open, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { type StorageProcess, startStorageProcess } from '../../fixtures/image/storage-tools.ts';
import { startNginx } from '../../fixtures/servers/nginx.ts';
import type { Server } from '../../fixtures/servers/server.ts';
import { progress } from '../measure/report.ts';
import { type Measured, reportBest } from './best.ts';
import { measure } from './measured-program.ts';
import { findProgram } from './other-tools.ts';
import type { Workers } from './worker.ts';

/** A file that is moved from one server to another. */
export interface FileCase {
  from: 'http' | 's3';
  to: 'http' | 's3';
  bytes: number;
  rounds: number;
}

/** Where the file is, for us and for each tool, and on this disk. */
interface Place {
  endpoint: object;
  url: string;
  rclone: string;
  file: string;
}

interface Servers {
  web: Server;
  storages: readonly [StorageProcess, StorageProcess];
}

const region = 'us-east-1';
const nginx = '/usr/sbin/nginx';
const [source, target] = ['source.bin', 'target.bin'];
const blockBytes = 4 * 1024 * 1024;

/** Measures one case: every tool in each round, by turns, after a round that does not count if there are several. */
export async function measureFile(
  storageTools: string,
  name: string,
  { from, to, bytes, rounds }: FileCase,
  workers: Workers,
): Promise<void> {
  const settings =
    'client_max_body_size 0; dav_methods PUT DELETE MKCOL MOVE; client_body_temp_path FOLDER/data/tmp;';
  const web = await startNginx(nginx, settings);
  const storages = [
    await startStorageProcess(storageTools, region),
    await startStorageProcess(storageTools, region),
  ] as const;
  const servers = { web, storages };
  try {
    await writeRandom(path.join(web.folder, 'data', source), bytes);
    const [input, output] = [placeOf(from, source, servers, 0), placeOf(to, target, servers, 1)];
    if (from === 's3') await workers.run(jobOf(placeOf('http', source, servers, 0), input, source));
    const tools = new Map<string, () => Promise<Measured>>([
      ['ours', () => workers.run(jobOf(input, output, target))],
    ]);
    const rclone = await findProgram('rclone', '/usr/bin');
    if (rclone !== undefined && to === 's3')
      tools.set('rclone', () =>
        measure([rclone, 'copyto', '--config=', input.rclone, output.rclone], { env: { AWS_CA_BUNDLE: '' } }),
      );
    if (from === 'http' && to === 'http')
      for (const [tool, script] of Object.entries(curls))
        tools.set(tool, async () => {
          const { seconds, cpuSeconds } = await measure([
            'bash',
            '-c',
            script,
            'bash',
            input.url,
            output.url,
          ]);
          return { seconds, cpuSeconds };
        });
    const runs = new Map<string, Measured[]>([...tools.keys()].map((who) => [who, []]));
    for (let round = rounds > 1 ? 0 : 1; round <= rounds; round += 1)
      for (const [who, tool] of tools) {
        const measured = await tool();
        progress(`${name}: ${who}, round ${round} of ${rounds}: ${JSON.stringify(measured)}`);
        if (round > 0) runs.get(who)?.push(measured);
        const { size } = await stat(output.file);
        if (size !== bytes) throw new Error(`${name}: ${who} has moved ${size} bytes`);
        await rm(output.file);
      }
    reportBest(name, rounds, runs);
  } finally {
    for (const server of [web, ...storages]) await server.stop();
  }
}

/** A stream, and one of which the content is compared, as ours is. */
const curls = {
  curl: 'set -o pipefail; curl -sf "$1" | curl -sf -T - "$2"',
  'curl, read back':
    'set -o pipefail; sent=$(curl -sf "$1" | tee >(curl -sf -T - "$2") | sha256sum); [ "$sent" = "$(curl -sf "$2" | sha256sum)" ]',
};

function placeOf(kind: 'http' | 's3', name: string, { web, storages }: Servers, which: 0 | 1): Place {
  if (kind === 'http') {
    const remoteURL = `http://127.0.0.1:${web.port}`;
    return {
      endpoint: { name: 'bench', type: 'http', remoteURL },
      url: `${remoteURL}/${name}`,
      rclone: `:http,url='${remoteURL}/':${name}`,
      file: path.join(web.folder, 'data', name),
    };
  }
  const { url, keys, objects } = storages[which];
  const access = `access_key_id=${keys.accessKeyID},secret_access_key=${keys.secretAccessKey}`;
  return {
    endpoint: { name: 'bench', type: 's3', remoteURL: `${url}/bucket`, credentials: keys },
    url: `${url}/bucket/${name}`,
    rclone: `:s3,provider=Other,no_check_bucket=true,${access},endpoint='${url}',region=${region}:bucket/${name}`,
    file: path.join(objects, name),
  };
}

function jobOf(from: Place, to: Place, override: string): object {
  return {
    artifact: { type: 'file', spec: { path: source, override } },
    source: from.endpoint,
    destination: to.endpoint,
  };
}

async function writeRandom(file: string, bytes: number): Promise<void> {
  const handle = await open(file, 'w');
  const block = randomBytes(blockBytes);
  for (let at = 0; at < bytes; at += blockBytes) {
    block.writeUIntLE(at, 0, 6);
    await handle.write(block, 0, Math.min(blockBytes, bytes - at));
  }
  await handle.close();
}
