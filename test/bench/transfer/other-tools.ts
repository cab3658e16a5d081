import { access, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { Shape } from './images.ts';
import { measure, type Tool } from './measured-program.ts';

type Command = (from: string, to: string) => string[];

const oneImage = (referrers: boolean): Readonly<Record<string, Command>> => ({
  crane: (from, to) => ['copy', '--insecure', from, to],
  regctl: (from, to) => [
    ...['image', 'copy', '--host', plain(from), '--host', plain(to)],
    ...(referrers ? ['--referrers', '--digest-tags'] : []),
    ...[from, to],
  ],
  oras: (from, to) => [
    ...['cp', '--no-tty', '--from-plain-http', '--to-plain-http'],
    ...(referrers ? ['--recursive'] : []),
    ...[from, to],
  ],
  skopeo: (from, to) => [
    ...['copy', '--all', '--preserve-digests', '--src-tls-verify=false', '--dest-tls-verify=false'],
    ...[`docker://${from}`, `docker://${to}`],
  ],
});

const parallel = 4;
/** The configuration of regsync. */
const syncFile = path.join(os.tmpdir(), `arc-bench-${process.pid}.json`);

const wholeRepository: Readonly<Record<string, Command>> = {
  regsync: () => ['once', '--config', syncFile],
  skopeo: (from, to) => [
    ...['sync', '--all', '--preserve-digests', '--src-tls-verify=false', '--dest-tls-verify=false'],
    ...['--src', 'docker', '--dest', 'docker', from, path.dirname(to)],
  ],
};

/**
 * The tools found in `folder`, which `.ci/registry-tools/build.sh` and `.ci/compatibility/build.sh` have made, or in PATH. Each copies an image, an index
 * with all platforms and all referrers that it can, or a repository with its tags, over plain HTTP.
 */
export async function findOtherTools(folder: string, shape: Shape): Promise<Map<string, Tool>> {
  const commands = shape.tags === undefined ? oneImage(shape.platforms !== undefined) : wholeRepository;
  const tools = new Map<string, Tool>();
  for (const [name, command] of Object.entries(commands)) {
    const program = await findProgram(name, folder);
    if (program === undefined) continue;
    tools.set(name, async (from, to, signal) => {
      if (name === 'regsync') await writeFile(syncFile, JSON.stringify(syncOf(from, to)));
      return measure([program, ...command(from, to)], { ...(signal && { signal }) });
    });
  }
  return tools;
}

function syncOf(from: string, to: string): object {
  const creds = [from, to].map((name) => ({ registry: name.slice(0, name.indexOf('/')), tls: 'disabled' }));
  return {
    version: 1,
    creds,
    defaults: { parallel },
    sync: [{ source: from, target: to, type: 'repository' }],
  };
}

/** Its path in `folder`, else in PATH. */
export async function findProgram(name: string, folder: string): Promise<string | undefined> {
  for (const place of [folder, ...(process.env.PATH ?? '').split(path.delimiter)]) {
    const file = path.join(place, name);
    const there = await access(file).then(
      () => true,
      () => false,
    );
    if (there) return file;
  }
  return undefined;
}

function plain(reference: string): string {
  return `reg=${reference.slice(0, reference.indexOf('/'))},tls=disabled`;
}
