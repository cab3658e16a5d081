import { execFile } from 'node:child_process';
import { glob, readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadManifests } from '#shared/local';
import { exitCodes, Failure } from '../../scripts/arcctl/core/failure.ts';
import { createProgram } from '../../scripts/arcctl/program.ts';
import { quietIo } from '../../scripts/arcctl/testing/quiet-io.ts';
import { parseReleaseArguments } from '../../scripts/release/arguments.ts';
import { parseStartArguments } from '../../scripts/standalone/arguments.ts';

const assets = process.env.KUBEBUILDER_ASSETS;

/** A command of a page, by its words. */
interface Command {
  page: string;
  text: string;
  words: string[];
}

/** Every command in a `sh` block of docs/operate. */
async function commands(): Promise<Command[]> {
  const found: Command[] = [];
  for await (const page of glob('docs/operate/*.md')) {
    const blocks = [...(await readFile(page, 'utf8')).matchAll(/^```sh\n(.*?)^```/gms)];
    for (const [, block = ''] of blocks)
      for (const text of commandsIn(block)) found.push({ page, text, words: wordsOf(text) });
  }
  return found;
}

/** Lines, where quotes and a backslash at the end may hold several. */
function commandsIn(block: string): string[] {
  const found: string[] = [];
  for (const line of block.split('\n')) {
    const open = found.at(-1);
    if (open?.endsWith('\\')) found[found.length - 1] = open.slice(0, -1) + line;
    else if (open !== undefined && (open.split("'").length - 1) % 2 === 1)
      found[found.length - 1] = `${open}\n${line}`;
    else if (line !== '') found.push(line);
  }
  return found;
}

/** As a shell splits them; redirections and comments are left out. */
function wordsOf(text: string): string[] {
  const words = [...text.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(
    ([all, single, double]) => single ?? double ?? all,
  );
  const end = words.findIndex((word) => word === '>' || word === '<' || word.startsWith('#'));
  return end < 0 ? words : words.slice(0, end);
}

const all = await commands();
const those = (program: string) => all.filter(({ words }) => words[0] === program);

describe('the commands of docs/operate', () => {
  it('are of programs that this test knows', () => {
    expect(all.length).toBeGreaterThan(40);
    // The tests of test/release run those of other programs.
    const run = ['helm', 'cosign', 'openssl', 'sha256sum', 'arc-transfer'];
    const known = new Set(['kubectl', 'arcctl', 'npm', ...run]);
    expect(all.filter(({ words: [program = ''] }) => !known.has(program))).toEqual([]);
  });

  it.each(those('arcctl'))('arcctl takes: $text', async ({ words }) => {
    const io = quietIo({ env: { KUBECONFIG: '/dev/null/absent' } });
    const program = createProgram(io).parseAsync(['node', ...words]);
    const caught: unknown = await program.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    // It has understood the words when it misses the cluster.
    expect(caught).toBeInstanceOf(Failure);
    expect(caught).toMatchObject({ exitCode: exitCodes.unreachable });
  });

  it.each(those('npm'))('the program takes: $text', ({ words: [, verb, ...rest] }) => {
    if (verb === 'ci') return expect(rest).toEqual([]);
    if (verb === 'run') expect(rest.shift()).toBe('release');
    expect(rest.shift()).toBe('--');
    expect(verb === 'run' ? parseReleaseArguments(rest) : parseStartArguments(rest)).toHaveProperty('folder');
  });

  it.skipIf(!assets).each(those('kubectl'))('kubectl takes: $text', async ({ words }) => {
    const closed = ['--server=http://127.0.0.1:1', '--request-timeout=1s'];
    const rest = words.slice(1);
    const end = rest.indexOf('--');
    const args = end < 0 ? [...rest, ...closed] : [...rest.slice(0, end), ...closed, ...rest.slice(end)];
    const said = await new Promise<string>((resolve) => {
      const env = { PATH: process.env.PATH, HOME: '/nonexistent' };
      const child = execFile(path.join(assets ?? '', 'kubectl'), args, { env }, (error, stdout, stderr) =>
        resolve(error ? stderr : stdout),
      );
      child.stdin?.end();
    });
    // No server, or no file of that name here: the words were understood.
    expect(said).toMatch(
      /(?:was|connection) refused|couldn't get current server API|does not exist|no such file|not a directory|created|evalsymlink|must build at directory/,
    );
    expect(said).not.toMatch(/unknown (?:shorthand )?flag|unknown command|Usage:/);
  });

  it('name objects that ARC has', async () => {
    const manifests = [
      ...(await loadManifests('knative/base')),
      ...(await loadManifests('knative/components/backup')),
      ...(await loadManifests('knative/components/console')),
    ];
    const has = new Set(manifests.map(({ kind, metadata }) => `${kind.toLowerCase()}/${metadata.name}`));
    const named = those('kubectl').flatMap(({ words }) =>
      words.filter((word) => /^(?:deployment|statefulset|cronjob|service|role)\//.test(word)),
    );
    expect(named.length).toBeGreaterThan(10);
    expect([...new Set(named)].filter((name) => !has.has(name))).toEqual([]);
  });
});
