import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { thirdParties } from './third-party.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'arc-third-party-'));
});
afterEach(() => rm(folder, { recursive: true }));

async function packageOf(
  name: string,
  manifest: object,
  files: Record<string, string> = {},
): Promise<string> {
  const own = path.join(folder, name);
  await mkdir(own);
  await writeFile(path.join(own, 'package.json'), JSON.stringify({ name, version: '1.0.0', ...manifest }));
  for (const [file, text] of Object.entries(files)) await writeFile(path.join(own, file), text);
  return own;
}

describe('the packages in a release', () => {
  it('are listed once, with licence and notice', async () => {
    const b = await packageOf('b', { license: 'Apache-2.0' }, { 'LICENSE.md': 'terms', NOTICE: 'credits' });
    const a = await packageOf('a', { license: 'MIT' }, { 'licenses.js': 'code' });
    expect(await thirdParties([b, a, b])).toEqual([
      { name: 'a', version: '1.0.0', license: 'MIT', text: '' },
      { name: 'b', version: '1.0.0', license: 'Apache-2.0', text: 'terms\ncredits' },
    ]);
  });

  it('may not be without a licence', async () => {
    await expect(thirdParties([await packageOf('a', {})])).rejects.toThrow('has no licence');
  });
});
