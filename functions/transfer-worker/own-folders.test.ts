import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkFolders } from './own-folders.ts';

let root = '';
const bundleDir = () => path.join(root, 'bundles');
const config = () => path.join(root, 'config');

beforeEach(async () => {
  root = await mkdtemp(path.join(os.tmpdir(), 'arc-own-'));
  for (const name of ['bundles/.servers/ab/fetched', 'bundles/release', 'config', 'work', 'layouts'])
    await mkdir(path.join(root, name), { recursive: true });
  await symlink(path.join(bundleDir(), '.servers'), path.join(bundleDir(), 'innocent'));
  await symlink(path.join(root, 'layouts'), path.join(bundleDir(), 'outside'));
  await symlink(config(), path.join(root, 'layouts', 'link'));
});
afterEach(() => rm(root, { recursive: true }));

function check(type: string, remoteURL: string, side: 'source' | 'destination' = 'source') {
  const other = { name: 'other', type: 'oci', remoteURL: 'https://r.io' };
  const named = { name: 'named', type, remoteURL };
  const ends =
    side === 'source' ? { source: named, destination: other } : { source: other, destination: named };
  const folders = { bundleDir: bundleDir(), private: [config(), path.join(root, 'work')] };
  return checkFolders(ends, folders);
}

describe('a folder of an Endpoint of type bundle', () => {
  it.each([
    'file:///.servers',
    'file:///.servers/ab',
    'file:///.servers/ab/fetched/new',
    'file:///%2Eservers/ab',
    'file:///%2eserver%73',
    'file:///release/../.servers',
    'file:///release/%2e%2e/.servers/ab',
    'file:///innocent',
    'file:///innocent/ab/new',
    'FILE:///.servers/',
  ])('cannot be the staging folder: %s', async (remoteURL) => {
    for (const side of ['source', 'destination'] as const)
      await expect(check('bundle', remoteURL, side)).rejects.toMatchObject({
        reason: 'config',
        message: expect.stringContaining('is reserved for the worker'),
      });
  });

  it('cannot leave the volume by a symbolic link', async () => {
    for (const remoteURL of ['file:///outside', 'file:///outside/x/y'])
      await expect(check('bundle', remoteURL)).rejects.toThrow('is outside of the volume for bundles');
  });

  it.each(['file:///release', 'file:///new/deep', 'file:///', 'file:///.serversx', 'https://r.io/.servers'])(
    'may be %s',
    (remoteURL) => check('bundle', remoteURL),
  );
});

describe('the folder of a layout', () => {
  const urlOf = (...names: string[]) => pathToFileURL(path.join(root, ...names)).href;

  it.each([
    ['config'],
    ['config', 'new', 'layout'],
    ['work', 'x'],
    ['layouts', 'link'],
    ['layouts', '..', 'config'],
    ['bundles', '.servers', 'ab'],
  ])("cannot be one of the worker's own: %s %s %s", async (...names) => {
    const given = names.filter((name) => name !== undefined);
    await expect(check('oci-layout', urlOf(...given), 'destination')).rejects.toThrow(
      'is reserved for the worker',
    );
  });

  it('may be any other', async () => {
    await check('oci-layout', urlOf('layouts', 'app'));
    await check('oci-layout', urlOf('bundles', 'release'));
  });
});
