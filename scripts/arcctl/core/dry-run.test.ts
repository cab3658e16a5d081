import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ordersIn } from './dry-run.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'orders-in-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function put(name: string, text: string): Promise<string> {
  const file = path.join(folder, name);
  await writeFile(file, text);
  return file;
}

const order = (name: string) =>
  `apiVersion: arc.opendefense.cloud/v1alpha1\nkind: Order\nmetadata: { name: ${name} }\nspec: {}\n`;
const secret = 'apiVersion: v1\nkind: Secret\nmetadata: { name: key }\n';

describe('the Orders of files', () => {
  it('are those of all of them, and each says where it stands', async () => {
    const files = [
      await put('a.yaml', `${order('a')}---\n${secret}`),
      await put('b.yaml', secret),
      await put('c.yaml', order('c')),
    ];
    const found = await ordersIn(files);
    expect(found.map(({ file, order: each }) => [path.basename(file), each.metadata.name])).toEqual([
      ['a.yaml', 'a'],
      ['c.yaml', 'c'],
    ]);
  });

  it.each([
    ['no Order', secret, 'the file has no Orders'],
    ['an alias of nothing', 'a: *b', 'is not valid YAML: Unresolved alias'],
    [
      'aliases without end',
      `a: &a [x]\nb: [${'*a,'.repeat(101)}]`,
      'is not valid YAML: Excessive alias count',
    ],
  ])('with %s are refused as wrong usage that names the file', async (_, text, message) => {
    const file = await put('wrong.yaml', text);
    await expect(ordersIn([file])).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringMatching(`wrong.yaml.*${message}`),
    });
  });
});
