import { cp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { seedImage } from '#shared/local';
import { digestOf } from '#shared/transfer';
import { light, type Sides, startSides } from './testing/sides.ts';

let sides: Sides;
beforeEach(async () => {
  sides = await startSides();
  await seedImage(sides.source, 'team/app', '1.0', light);
});
afterEach(() => sides.close());

const record = 'first.arc-bundle.json';
/** The names of all files of the volume with the digests of their content. */
async function files(): Promise<Record<string, string>> {
  const names = (await readdir(sides.out())).sort();
  const digests = names.map(async (name) => digestOf(await readFile(sides.out(name))));
  return Object.fromEntries((await Promise.all(digests)).map((digest, at) => [names[at], digest]));
}
const parts = async () => Object.keys(await files()).filter((name) => /\.tar\.\d+$/.test(name));

describe('an export whose record exists', () => {
  it('refuses the record of another bundle that was copied to its name, also as spec.since', async () => {
    await sides.exported({});
    for (const suffix of ['', '.sig'])
      await cp(sides.out(`${record}${suffix}`), sides.out(`second.arc-bundle.json${suffix}`));
    await expect(sides.exported({ name: 'second' })).rejects.toMatchObject({
      reason: 'permanent',
      message: expect.stringMatching(
        /^second.arc-bundle.json is the record of the bundle "first" of .* under another name/,
      ),
    });
    await expect(sides.exported({ name: 'third', since: 'second' })).rejects.toThrow(
      'is the record of the bundle "first"',
    );
    expect((await readdir(sides.out())).filter((name) => name.startsWith('second.tar'))).toEqual([]);
  });

  it.each<[string, () => Promise<unknown>]>([
    ['all parts are gone', async () => Promise.all((await parts()).map((name) => rm(sides.out(name))))],
    ['the first part is gone', () => rm(sides.out('first.tar.001'))],
    ['a part in the middle is gone', () => rm(sides.out('first.tar.002'))],
    ['the last part is gone', async () => rm(sides.out((await parts()).at(-1) ?? ''))],
    ['a part is cut', () => truncate(sides.out('first.tar.002'), 100)],
    ['a part is empty', () => truncate(sides.out('first.tar.001'), 0)],
    ['the last part is cut', async () => truncate(sides.out((await parts()).at(-1) ?? ''), 512)],
    ['there is a part of another bundle', () => writeFile(sides.out(`first.tar.009`), 'x')],
  ])('rebuilds the same bundle if %s', async (what, damage) => {
    const made = await sides.exported({});
    const before = await files();
    expect(Object.keys(before).length).toBeGreaterThan(4);
    const more = what.includes('another bundle') ? await parts() : [];
    await damage();
    // A part that follows the last one would be read as one of this bundle.
    if (more.length > 0) await cp(sides.out('first.tar.009'), sides.out(`first.tar.00${more.length + 1}`));
    expect(await sides.exported({})).toMatchObject({
      digest: made?.digest,
      items: { copied: 1, unchanged: 0 },
    });
    expect(await files()).toEqual(before);
    expect(await sides.exported({})).toMatchObject({ digest: made?.digest, items: { unchanged: 1 } });
    await sides.carry();
    expect(await sides.imported()).toMatchObject({ items: { copied: 1 } });
  });

  it('is an error if its parts are lost and its source has changed, and leaves the record', async () => {
    await sides.exported({});
    for (const name of await parts()) await rm(sides.out(name));
    const before = await files();
    await seedImage(sides.source, 'team/app', '1.0', { ...light, layers: 3 });
    await expect(sides.exported({})).rejects.toMatchObject({
      reason: 'config',
      message: expect.stringContaining('cannot be rebuilt identically'),
    });
    expect(await files()).toEqual(before);
  });

  it('is not unchanged if its source has changed', async () => {
    const { digest: old } = await seedImage(sides.source, 'team/app', '1.0', light);
    await sides.exported({});
    const { digest } = await seedImage(sides.source, 'team/app', '1.0', { ...light, layers: 3 });
    await expect(sides.exported({})).rejects.toMatchObject({
      reason: 'config',
      message: expect.stringMatching(
        new RegExp(`team/app:1.0 as ${old}, but its source has ${digest} now.*choose another spec.name`),
      ),
    });
  });

  it('is unchanged if a selection has grown or shrunk, but not if one of its tags was moved', async () => {
    const contents = [{ image: 'team/app', tags: { match: '*' } }];
    await seedImage(sides.source, 'team/app', '1.1', { ...light, layers: 1 });
    await sides.exported({ contents });
    await seedImage(sides.source, 'team/app', '2.0', { ...light, layers: 1 });
    sides.source.contents.get('team/app')?.tags.delete('1.0');
    expect(await sides.exported({ contents })).toMatchObject({ items: { unchanged: 2 } });
    await seedImage(sides.source, 'team/app', '1.1', { ...light, layers: 3 });
    await expect(sides.exported({ contents })).rejects.toThrow('with team/app:1.1 as sha256:');
  });

  it('is unchanged if a selection is empty now', async () => {
    const contents = [{ image: 'team/app', tags: { semver: '>=1 <2' } }];
    await sides.exported({ contents });
    await seedImage(sides.source, 'team/app', '2.0', { ...light, layers: 1 });
    sides.source.contents.get('team/app')?.tags.delete('1.0');
    expect(await sides.exported({ contents })).toMatchObject({ items: { unchanged: 1 } });
    await expect(sides.exported({ name: 'second', contents })).rejects.toThrow();
  });
});
