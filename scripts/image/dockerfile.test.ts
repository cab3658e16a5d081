import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { assembleImage } from './assemble.ts';

it('the Dockerfile says what npm run image does', async () => {
  const text = await readFile(path.join(import.meta.dirname, 'Dockerfile'), 'utf8');
  const last = text.slice(text.lastIndexOf('\nFROM '));
  const of = (instruction: string) => new RegExp(`^${instruction} (.*)$`, 'm').exec(last)?.[1];
  const image = assembleImage({
    base: undefined,
    architecture: 'amd64',
    layers: [],
    created: 0,
    version: '1',
  });
  const { config } = JSON.parse(String(image.own[0]?.bytes));
  expect({
    User: of('USER'),
    WorkingDir: of('WORKDIR'),
    Entrypoint: JSON.parse(of('ENTRYPOINT') ?? 'null'),
    Env: [of('ENV')],
  }).toEqual({ ...config, Labels: undefined, Env: config.Env.slice(1) });
  expect(last).toContain(` ${config.Entrypoint[0]}\n`);
  expect(last).toContain(` ${config.WorkingDir}/\n`);
});
