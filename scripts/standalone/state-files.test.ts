import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { loadIdentities } from './identities.ts';
import { loadPki } from './pki.ts';

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

it('certificates are there whole or not at all', async () => {
  await mkdir(path.join(folder, 'pki.json.partial'));
  await expect(loadPki(folder, new Date())).rejects.toThrow('EISDIR');
  await expect(readFile(path.join(folder, 'pki.json'))).rejects.toThrow('ENOENT');
});
