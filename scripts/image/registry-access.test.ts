import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { expect, it } from 'vitest';
import { locate, readDockerConfig } from './registry-access.ts';

it.each([
  ['registry.test/arc/functions:1', 'https://registry.test', 'arc/functions:1'],
  ['http://registry.test:5000/arc:1', 'http://registry.test:5000', 'arc:1'],
  ['localhost:5000/arc:1', 'http://localhost:5000', 'arc:1'],
  ['127.0.0.1:5000/arc', 'http://127.0.0.1:5000', 'arc'],
  ['https://[::1]:5000/arc', 'https://[::1]:5000', 'arc'],
  ['localhost.test/arc', 'https://localhost.test', 'arc'],
])('%s is found at %s', (reference, remoteURL, image) => {
  expect(locate(reference, undefined)).toMatchObject({ remoteURL, image });
});

it.each(['arc/functions:1', 'ftp://registry.test/arc', 'registry.test/', 'registry.test/ARC'])(
  '%s is refused',
  (reference) => {
    expect(() => locate(reference, undefined)).toThrow('cannot be used');
  },
);

it('reads what docker login leaves, and says when it is of no use', async () => {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'arc-docker-'));
  const notes: string[] = [];
  const read = () => readDockerConfig({ DOCKER_CONFIG: folder }, (text) => void notes.push(text));
  const write = (text: string) => writeFile(path.join(folder, 'config.json'), text);
  expect(await read()).toBeUndefined();
  await write('{"auths":{"a.b":{"auth":"eDp5"}}}');
  expect(await read()).toContain('eDp5');
  expect(notes).toEqual([]);
  await write('{"credsStore":"desktop"}');
  expect(await read()).toBeUndefined();
  expect(notes[0]).toContain('without credentials');
  await write('{"auths":{"a.b":{"auth":"eDp5"}');
  await expect(read()).rejects.toThrow(/^(?!.*eDp5).*is not JSON/);
  await rm(folder, { recursive: true });
});
