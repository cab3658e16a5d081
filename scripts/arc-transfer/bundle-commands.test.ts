import { createPublicKey, generateKeyPairSync, verify } from 'node:crypto';
import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Registry, seedImage, startRegistry } from '#shared/local';
import { chartYaml, packChart, seedChart } from '../../shared/transfer/testing/charts.ts';
import { startWebServer } from '../../shared/transfer/testing/web-server.ts';
import { run } from './program.ts';

let folder = '';
let source: Registry;
let destination: Registry;
let digest = '';
const { privateKey, publicKey } = generateKeyPairSync('ed25519');

beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'arc-bundle-by-hand-'));
  source = await startRegistry();
  destination = await startRegistry();
  ({ digest } = await seedImage(source, 'team/app', '1.0'));
  await writeFile(path.join(folder, 'key.pem'), privateKey.export({ format: 'pem', type: 'pkcs8' }));
  await writeFile(path.join(folder, 'pub.pem'), publicKey.export({ format: 'pem', type: 'spki' }));
});
afterEach(async () => {
  await Promise.all([source.close(), destination.close()]);
  await rm(folder, { recursive: true });
});

/** Runs a command line in which SRC, DST and DIR stand for the registries and the folder. */
async function transfer(command: string) {
  let [stdout, stderr] = ['', ''];
  const args = command.replaceAll('SRC', source.host).replaceAll('DST', destination.host);
  const exitCode = await run(args.replaceAll('DIR', folder).split(' '), {
    stdout: { write: (text: string) => (stdout += text) },
    stderr: { write: (text: string) => (stderr += text) },
    env: { DOCKER_CONFIG: folder, TMPDIR: folder },
    signal: new AbortController().signal,
  });
  return { exitCode, stdout, stderr };
}
/** A bundle that was made last year, under the name of a new one. */
async function renamed(): Promise<void> {
  await transfer('export SRC/team/app:1.0 DIR/old.tar');
  await rename(path.join(folder, 'old.tar'), path.join(folder, 'new.tar'));
}
const exported = () => transfer('export SRC/team/app:1.0 DIR/out.tar --sign-key DIR/key.pem');

describe('arc-transfer export and import', () => {
  it('carry selected tags, and a chart with its images, shared content once', async () => {
    await seedImage(source, 'team/app', '1.1', { signature: false });
    const files = {
      'Chart.yaml': chartYaml('demo', '1.2.3'),
      'values.yaml': `image: ${source.host}/team/app:1.1\nside: { image: ${source.host}/team/side:1.0 }\n`,
    };
    await seedChart(source, 'charts/demo', await packChart(files));
    await seedImage(source, 'team/side', '1.0', { signature: false });
    const tags = await transfer('export SRC/team/app DIR/tags.tar --tag-match *');
    expect(tags.stdout).toMatch(/^Exported 2 artifacts to /);
    const chart = await transfer('export SRC/charts/demo:1.2.3 DIR/chart.tar --with-images --json');
    const names = JSON.parse(chart.stdout).items.map(({ name }: { name: string }) => name);
    expect(names.toSorted()).toEqual(['charts/demo:1.2.3', 'team/app:1.1', 'team/side:1.0']);
    expect((await transfer('import DIR/chart.tar DST/m/')).stdout).toContain('Imported 3 of 3 artifacts');
  });

  it('carry an artifact in a signed bundle, and return a signed receipt', async () => {
    const out = await exported();
    expect(out.exitCode).toBe(0);
    expect(out.stdout).toMatch(
      /^Exported 1 artifact to .*out\.tar: \d+ blobs \(.*\nIts record is .*out\.arc-bundle\.json.*\nsha256:/,
    );
    expect(out.stderr.trimEnd().split('\n').at(-1)).toMatch(/^100 % /);
    const found = await transfer(
      'import DIR/out.tar DST/mirror/ --key DIR/pub.pem --receipt DIR/receipt.json --sign-key DIR/key.pem',
    );
    expect(found).toMatchObject({
      exitCode: 0,
      stdout: expect.stringMatching(
        /^imported team\/app:1\.0 sha256:\w+\nImported 1 of 1 artifact to .* sent\.\n$/,
      ),
    });
    expect(destination.contents.get('mirror/team/app')?.tags.get('1.0')).toBe(digest);
    const receipt = await readFile(path.join(folder, 'receipt.json'));
    expect(JSON.parse(receipt.toString())).toMatchObject({
      kind: 'arc-bundle-receipt',
      bundle: out.stdout.trim().split('\n').at(-1),
      signature: 'verified',
      items: [{ name: 'team/app:1.0', digest, outcome: 'imported', referrers: 1 }],
    });
    const signature = Buffer.from(await readFile(path.join(folder, 'receipt.json.sig'), 'latin1'), 'base64');
    expect(
      verify(null, receipt, createPublicKey(publicKey.export({ format: 'pem', type: 'spki' })), signature),
    ).toBe(true);
  });

  it('warn about an unverified signature, and stop for another key', async () => {
    await exported();
    const other = generateKeyPairSync('ed25519').publicKey;
    await writeFile(path.join(folder, 'other.pem'), other.export({ format: 'pem', type: 'spki' }));
    const refused = await transfer('import DIR/out.tar DST/ --key DIR/other.pem');
    expect(refused).toMatchObject({ exitCode: 11, stderr: expect.stringContaining('Nothing was imported') });
    expect(destination.requests).toEqual([]);
    const warned = await transfer('import DIR/out.tar DST/ --quiet');
    expect(warned).toMatchObject({
      exitCode: 0,
      stderr: expect.stringMatching(/^Warning: .*not verified: use --key/),
    });
  });

  it('apply --policy to each artifact: a denied artifact is neither written nor sent', async () => {
    const file = path.join(folder, 'policy.json');
    const only = (rules: object) => writeFile(file, JSON.stringify(rules));
    const policy = '--policy DIR/policy.json';
    await only({ maxBytes: 10 });
    const kept = await transfer(`export SRC/team/app:1.0 DIR/out.tar ${policy}`);
    expect(kept).toMatchObject({ exitCode: 15, stderr: expect.stringContaining('rule maxBytes') });
    await only({ repositories: { allowed: ['*/team/*'] } });
    expect(await transfer(`export SRC/team/app:1.0 DIR/out.tar ${policy}`)).toMatchObject({ exitCode: 0 });
    const record = JSON.parse(await readFile(path.join(folder, 'out.arc-bundle.json'), 'utf8'));
    expect(record.policy).toBe(JSON.stringify({ repositories: { allowed: ['*/team/*'] } }));
    await only({ mediaTypes: ['text/*'] });
    const denied = await transfer(`import DIR/out.tar DST/ ${policy}`);
    expect(denied).toMatchObject({ exitCode: 15, stdout: expect.stringContaining('failed team/app:1.0') });
    expect(destination.count('PUT') + destination.count('POST')).toBe(0);
    await only({ maxBytes: 1e9 });
    expect(await transfer(`import DIR/out.tar DST/ ${policy}`)).toMatchObject({ exitCode: 0 });
  });

  it('accept parts as expanded by the shell, and platforms', async () => {
    const size = '--part-size 64KiB';
    await transfer(`export SRC/team/app:1.0 DIR/out.tar ${size} --platform linux/amd64 --json`);
    const out = await transfer('import DIR/out.tar.001 DIR/out.tar.002 DST/ --json');
    expect(JSON.parse(out.stdout)).toMatchObject({ items: [{ outcome: 'imported' }], signature: 'none' });
    expect(destination.contents.get('team/app')?.tags.has('1.0')).toBe(true);
  });

  it('carry a chart of a Helm repository into a registry', async () => {
    const charts = await startWebServer();
    const serve = (name: string, bytes: Buffer) => charts.files.set(name, { bytes, mediaType: '' });
    serve('/demo-1.0.0.tgz', await packChart({ 'Chart.yaml': chartYaml('demo', '1.0.0') }));
    const entry = { apiVersion: 'v2', name: 'demo', version: '1.0.0', urls: ['demo-1.0.0.tgz'] };
    serve('/index.yaml', Buffer.from(JSON.stringify({ apiVersion: 'v1', entries: { demo: [entry] } })));
    try {
      const place = charts.url.replace('http://', 'helm+http://');
      expect(await transfer(`export ${place}/demo:1.0.0 DIR/out.tar`)).toMatchObject({ exitCode: 0 });
    } finally {
      await charts.close();
    }
    expect(await transfer('import DIR/out.tar DST/charts/')).toMatchObject({ exitCode: 0 });
    expect(destination.contents.get('charts/demo')?.tags.has('1.0.0')).toBe(true);
  });

  it('carry into a layout, and from one', async () => {
    await transfer('copy SRC/team/app:1.0 oci-layout:DIR/a');
    await transfer('export oci-layout:DIR/a:team/app:1.0 DIR/out.tar');
    expect(await transfer('import DIR/out.tar oci-layout:DIR/b')).toMatchObject({ exitCode: 0 });
    expect(await transfer('verify SRC/team/app:1.0 oci-layout:DIR/b')).toMatchObject({ exitCode: 0 });
  });

  it('omit the blobs of an earlier bundle', async () => {
    await exported();
    const since = '--since DIR/out.arc-bundle.json';
    const next = await transfer(`export SRC/team/app:1.0 DIR/next.tar ${since}`);
    expect(next.stdout).toMatch(/, \d+ left out\.\n/);
    const lacking = await transfer('import DIR/next.tar DST/');
    expect(lacking).toMatchObject({
      exitCode: 11,
      stderr: expect.stringContaining('Import that bundle first'),
    });
    await transfer('import DIR/out.tar DST/');
    expect(await transfer('import DIR/next.tar DST/')).toMatchObject({ exitCode: 0 });
  });

  it.each([
    ['export SRC/team/app:1.0', 2, "missing required argument 'FILE.tar'"],
    ['import DIR/out.tar', 2, "missing required argument 'DST'"],
    ['import DIR/out.tar DST/team/app:1', 14, 'that ends with "/"'],
    ['import DIR/out.tar s3://DST/bucket/', 14, 'cannot be the target of a bundle'],
    ['export https://DST/x.tgz DIR/out.tar', 14, 'is a file, but a bundle contains images'],
    ['import DIR/a.tar DIR/b.tar DST/', 14, 'are different bundles'],
    ['import DIR/none.tar DST/', 14, 'There is no bundle'],
    ['import DIR/out.tar DST/ --sign-key DIR/key.pem', 14, 'set its file with --receipt'],
    ['import DIR/out.tar DST/ --key DIR/none.pem', 14, 'Cannot read the public key'],
    ['export SRC/team/app:1.0 DIR/out.tar --part-size 5', 14, '--part-size "5" is not a size'],
    ['export SRC/team/app:1.0 DIR/out.tar --part-size 4XB', 14, '--part-size "4XB" is not a size'],
    ['export SRC/team/app:1.0 DIR/out.tar --since DIR/none.json', 14, 'Cannot read the record of --since'],
    ['export SRC/team/app:1.0 DIR/out.tar --sign-key DIR/pub.pem', 14, 'cannot be used as private key'],
    ['export SRC/team/app:1.0 DIR/key.pem/out.tar', 10, 'Cannot write'],
    ['export SRC/ DIR/out.tar', 14, 'names no artifact'],
    ['import DIR/out.tar DST/ --policy package.json', 14, 'Correct the file of --policy'],
    ['export SRC/team/app:1.0 DIR/out.tar --policy DIR/none', 14, 'Cannot read the policy of --policy'],
  ])('%s ends with %i: %s', async (command, exitCode, message) => {
    expect(await transfer(command)).toMatchObject({ exitCode, stderr: expect.stringContaining(message) });
    expect(destination.requests).toEqual([]);
  });

  it.each([
    ['--name new', 11, /it is the bundle "old" of .* under another name/],
    [`--digest sha256:${'0'.repeat(64)}`, 11, /its digest is sha256:.* was requested/],
    ['--not-older-than 2999-01-01T00:00:00Z', 11, /one of 2999-01-01T00:00:00.000Z or later/],
    ['--not-older-than 0s', 11, /or later was requested/],
    ['--not-older-than yesterday', 2, /It must be a time such as/],
    ['--digest 5', 14, /is not a sha256 or sha512 digest/],
  ])('import %s refuses an older bundle under a new name', async (option, exitCode, message) => {
    await renamed();
    const refused = await transfer(`import DIR/new.tar DST/m/ ${option}`);
    expect(refused).toMatchObject({ exitCode, stderr: expect.stringMatching(message) });
    expect(destination.count('PUT') + destination.count('POST')).toBe(0);
  });

  it('import accepts the requested bundle, and warns about another name if none is requested', async () => {
    await renamed();
    const asked = '--name old --not-older-than 1h';
    expect(await transfer(`import DIR/new.tar DST/m/ --quiet ${asked}`)).toMatchObject({
      exitCode: 0,
      stderr: '',
    });
    expect(await transfer('import DIR/new.tar DST/m/ --quiet')).toMatchObject({
      exitCode: 0,
      stderr: expect.stringMatching(/^Warning: the bundle in new\.tar was exported as "old" at /),
    });
  });
});
