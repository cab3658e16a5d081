import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createHostName, createSecrets } from '../arcctl/console/server/guard.ts';
import { loadAccess, saveAccess } from './dashboard-access.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'arc-access-'));
});
afterEach(() => rm(folder, { recursive: true }));

const access = { hostName: createHostName(), port: 4711, secrets: createSecrets() };

it('keeps the address and the secrets of the dashboard, for their owner alone', async () => {
  expect(await loadAccess(folder)).toBeUndefined();
  await saveAccess(folder, access);
  expect(await loadAccess(folder)).toEqual(access);
  expect((await stat(path.join(folder, 'dashboard.json'))).mode & 0o777).toBe(0o600);
});

it.each([
  ['no JSON', '{'],
  ['without secrets', JSON.stringify({ ...access, secrets: undefined })],
  ['with a short secret', JSON.stringify({ ...access, secrets: { ...access.secrets, token: 'x' } })],
  ['for another host', JSON.stringify({ ...access, hostName: 'evil.example.com' })],
  ['for no port', JSON.stringify({ ...access, port: 0 })],
])('begins anew where the file is %s', async (_, text) => {
  await writeFile(path.join(folder, 'dashboard.json'), text);
  expect(await loadAccess(folder)).toBeUndefined();
});
