import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { loadIdentities } from './identities.ts';
import { writeKubeconfig } from './kubeconfig.ts';
import { openState } from './open-state.ts';
import { loadPki } from './pki.ts';
import { loadPort, makeFolder, savePort } from './state-files.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'arc-state-'));
});
afterEach(() => rm(folder, { recursive: true }));

it('tokens stay what they were when a start cannot write new ones, as on a full disk', async () => {
  const before = await loadIdentities(folder, ['admin']);
  // Nothing can be written there.
  await mkdir(path.join(folder, 'tokens.json.partial'));
  await expect(loadIdentities(folder, ['admin', 'later'])).rejects.toThrow('EISDIR');
  const after = await loadIdentities(folder, ['admin']);
  expect(after.tokenOf('admin')).toBe(before.tokenOf('admin'));
});

it('tokens, keys and the kubeconfig are readable by their owner only, in a folder that others may read too', async () => {
  await chmod(folder, 0o755);
  await loadIdentities(folder, ['admin']);
  await loadPki(folder, new Date());
  await writeKubeconfig(path.join(folder, 'kubeconfig'), { server: '', ca: '', token: 'a' });
  await (await openState(folder)).close();
  const modes: Record<string, number> = {};
  for (const name of await readdir(folder)) modes[name] = (await stat(path.join(folder, name))).mode & 0o077;
  expect(modes).toEqual({ kubeconfig: 0, 'pki.json': 0, store: 0, 'tokens.json': 0 });
});

it('certificates are there whole or not at all', async () => {
  await mkdir(path.join(folder, 'pki.json.partial'));
  await expect(loadPki(folder, new Date())).rejects.toThrow('EISDIR');
  await expect(readFile(path.join(folder, 'pki.json'))).rejects.toThrow('ENOENT');
});

it('the port and the kubeconfig stay what they were, too', async () => {
  const kubeconfig = path.join(folder, 'kubeconfig');
  const access = { server: 'https://127.0.0.1:1', ca: '', token: 'a' };
  await writeKubeconfig(kubeconfig, access);
  await savePort(folder, 1234);
  for (const name of ['kubeconfig', 'port']) await mkdir(path.join(folder, `${name}.partial`));
  await expect(writeKubeconfig(kubeconfig, { ...access, token: 'b' })).rejects.toThrow('EISDIR');
  await expect(savePort(folder, 5678)).rejects.toThrow('EISDIR');
  expect(await readFile(kubeconfig, 'utf8')).toContain('token: a');
  expect(await loadPort(folder)).toBe(1234);
});

it('folders are made with those above, by several starts at a time, and none where a file is', async () => {
  const deep = path.join(folder, 'a/b/c');
  await Promise.all([makeFolder(deep), makeFolder(deep)]);
  expect((await stat(deep)).mode & 0o777).toBe(0o700);
  await writeFile(path.join(folder, 'file'), '');
  await expect(makeFolder(path.join(folder, 'file/below'))).rejects.toMatchObject({ code: 'EEXIST' });
});

it.runIf(process.platform === 'linux')(
  'a folder that nobody can make is refused, not tried for ever',
  async () => {
    await expect(makeFolder('/proc/self/none/compiled')).rejects.toMatchObject({ code: 'ENOENT' });
  },
);
