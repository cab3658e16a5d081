import { access } from 'node:fs/promises';
import path from 'node:path';
import { measure, type Tool } from './measured-program.ts';

/** How each is told to copy an image, or an index with all platforms, over plain HTTP; with `referrers`, all of those that it can. */
const commands: Record<string, (from: string, to: string, referrers: boolean) => string[]> = {
  crane: (from, to) => ['copy', '--insecure', from, to],
  regctl: (from, to, referrers) => [
    ...['image', 'copy', '--host', plain(from), '--host', plain(to)],
    ...(referrers ? ['--referrers', '--digest-tags'] : []),
    ...[from, to],
  ],
  oras: (from, to, referrers) => [
    ...['cp', '--no-tty', '--from-plain-http', '--to-plain-http'],
    ...(referrers ? ['--recursive'] : []),
    ...[from, to],
  ],
  skopeo: (from, to) => [
    ...['copy', '--all', '--preserve-digests', '--src-tls-verify=false', '--dest-tls-verify=false'],
    ...[`docker://${from}`, `docker://${to}`],
  ],
};

/** The tools found in `folder`, which `.ci/registry-tools/build.sh` has made, or in PATH. */
export async function findOtherTools(folder: string, referrers: boolean): Promise<Map<string, Tool>> {
  const tools = new Map<string, Tool>();
  for (const [name, command] of Object.entries(commands)) {
    const program = await find(name, folder);
    if (program === undefined) continue;
    tools.set(name, (from, to, signal) =>
      measure([program, ...command(from, to, referrers)], { ...(signal && { signal }) }),
    );
  }
  return tools;
}

async function find(name: string, folder: string): Promise<string | undefined> {
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
