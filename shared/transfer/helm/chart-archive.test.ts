import { gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { fc } from '#shared/base/testing';
import { TransferError } from '../errors/transfer-error.ts';
import { type ChartFile, chartYaml, packChart } from '../testing/charts.ts';
import { transferFailure } from '../testing/transfer-failure.ts';
import { readChartArchive } from './chart-archive.ts';

const yaml = chartYaml('demo', '1.0.0');
const read = (tgz: Uint8Array) => readChartArchive(tgz, 'chart demo');
const refusal = async (files: Record<string, ChartFile>, folder?: string) =>
  transferFailure(
    read(await packChart({ 'Chart.yaml': yaml, ...files }, folder === undefined ? {} : { folder })),
  );

describe('the archive of a chart', () => {
  it('yields the files that describe the chart, and the time of the latest file', async () => {
    const tgz = await packChart({
      'Chart.yaml': yaml,
      'values.yaml': 'a: 1\n',
      'templates/all.yaml': 'kind: List',
      'charts/sub/Chart.yaml': chartYaml('sub', '1.0.0'),
      'charts/sub/charts/deep/values.yaml': 'b: 2\n',
      'charts/packed.tgz': 'x',
      'files/Chart.yaml': 'no chart',
    });
    const { files, modifiedMs } = await read(tgz);
    expect([...files.keys()]).toEqual([
      'Chart.yaml',
      'values.yaml',
      'charts/sub/Chart.yaml',
      'charts/sub/charts/deep/values.yaml',
      'charts/packed.tgz',
    ]);
    expect(files.get('values.yaml')?.toString()).toBe('a: 1\n');
    expect(modifiedMs).toBe(Date.parse('2024-05-06T07:08:09Z'));
  });

  it.each<[string, Record<string, ChartFile>, RegExp]>([
    [
      'a symbolic link',
      { 'values.yaml': { type: 'symlink', linkname: '/etc/passwd' } },
      /"demo\/values.yaml" is a link/,
    ],
    ['a hard link', { other: { type: 'link', linkname: 'Chart.yaml' } }, /is a link/],
    ['a device', { null: { type: 'character-device' } }, /neither a file nor a folder/],
    ['a way out', { '../../etc/passwd': 'x' }, /leaves its folder/],
    ['a way out of Windows', { '..\\..\\boot.ini': 'x' }, /leaves its folder/],
    ['a drive', { 'C:/boot.ini': 'x' }, /leaves its folder/],
    ['a large file', { big: Buffer.alloc(5 * 1024 * 1024 + 1) }, /more than 5 MiB/],
  ])('is refused with %s', async (_, files, message) => {
    expect(await refusal(files)).toMatchObject({
      reason: 'permanent',
      message: expect.stringMatching(message),
    });
  });

  it('is refused with an absolute path, and without a folder', async () => {
    expect((await refusal({}, '/demo')).message).toMatch(/leaves its folder/);
    expect((await refusal({}, '')).message).toMatch(/not in a folder of the chart's name/);
  });

  it('is refused if it unpacks to more than Helm unpacks', async () => {
    const files = Array.from(
      { length: 21 },
      (_, at) => [`zeros-${at}`, Buffer.alloc(5 * 1024 * 1024)] as const,
    );
    const tgz = await packChart({ 'Chart.yaml': yaml, ...Object.fromEntries(files) });
    expect(tgz.length).toBeLessThan(200_000);
    expect((await transferFailure(read(tgz))).message).toMatch(/unpacks to more than 100 MiB/);
  });

  it('is refused with too many files or too much in them', async () => {
    const many = Object.fromEntries(Array.from({ length: 20_001 }, (_, at) => [`f${at}`, '']));
    expect((await refusal(many)).message).toMatch(/more than 20000 files/);
    const large = Array.from(
      { length: 6 },
      (_, at) => [`charts/${at}.tgz`, Buffer.alloc(5 * 1024 * 1024)] as const,
    );
    expect((await refusal(Object.fromEntries(large))).message).toMatch(/more than 24 MiB/);
  });

  it('is refused if it is no archive, is truncated, or contains no chart', async () => {
    const tgz = await packChart({ 'Chart.yaml': yaml });
    for (const bad of [
      Buffer.from('<html>'),
      tgz.subarray(0, tgz.length - 20),
      gzipSync('no tar'.repeat(200)),
    ])
      expect((await transferFailure(read(bad))).message).toMatch(/not a gzipped tar archive|no Chart.yaml/);
    const other = await packChart({ 'README.md': 'x' });
    expect((await transferFailure(read(other))).message).toMatch(/no Chart.yaml in its folder/);
    expect((await transferFailure(read(gunzipSync(tgz)))).message).toMatch(/not a gzipped tar archive/);
  });

  it('of any bytes ends in a TransferError or in a chart', async () => {
    const tgz = await packChart({ 'Chart.yaml': yaml, 'values.yaml': 'a: 1\n', 'charts/x/Chart.yaml': yaml });
    const raw = gunzipSync(tgz);
    const change = fc.tuple(fc.nat(raw.length - 1), fc.nat(255));
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 5 }), async (changes) => {
        const bad = Buffer.from(raw);
        for (const [at, byte] of changes) bad[at] = byte;
        const caught = await read(gzipSync(bad)).then(
          () => undefined,
          (error: unknown) => error,
        );
        if (caught !== undefined) expect(caught).toBeInstanceOf(TransferError);
      }),
      { numRuns: 150 },
    );
  });
});
