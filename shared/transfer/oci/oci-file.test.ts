import os from 'node:os';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Registry, seedImage, startRegistry } from '../../local/registry/index.ts';
import { copyFile, type FileEnds } from '../copy/copy-file.ts';
import { openWebSink, openWebSource } from '../files/web.ts';
import { digestOf, digestTag } from '../reference/digest.ts';
import { transferFailure } from '../testing/transfer-failure.ts';
import { startWebServer, type WebServer } from '../testing/web-server.ts';
import { ociFile, ociFileSink } from './oci-file.ts';
import type { TransferContext } from './session.ts';

let registry: Registry;
let web: WebServer;
beforeEach(async () => {
  registry = await startRegistry();
  web = await startWebServer();
});
afterEach(() => Promise.all([registry.close(), web.close()]));

const content = Buffer.from('0123456789'.repeat(50_000));
const digest = digestOf(content);

function copy(open: (context: TransferContext) => FileEnds, verify = false) {
  const { signal } = new AbortController();
  const retry = { attempts: 3, baseMs: 1, maxMs: 2 };
  return copyFile({ signal, workDir: os.tmpdir(), retry, verify }, async (context) => open(context));
}

function toRegistry(options: Partial<FileEnds> = {}, verify = false) {
  const open = ({ session, folder }: TransferContext): FileEnds => ({
    source: openWebSource({ name: 'src', remoteURL: web.url, path: 'app.tgz' }, session),
    destination: ociFileSink(
      session.repository({ name: 'dst', remoteURL: registry.url, image: 'files/app:1.0' }, 'pull,push'),
      folder,
      session.retry,
    ),
    name: 'app.tgz',
    ...options,
  });
  return copy(open, verify);
}

function fromRegistry(image: string) {
  return copy(({ session }) => ({
    source: ociFile(session.repository({ name: 'src', remoteURL: registry.url, image }, 'pull')),
    destination: openWebSink({ name: 'dst', remoteURL: web.url, path: 'back.tgz' }, session, false),
    name: 'back.tgz',
  }));
}

function manifest(): unknown {
  const { tags, manifests } = registry.contents.get('files/app') ?? {};
  const stored = manifests?.get(tags?.get('1.0') ?? '');
  return stored && JSON.parse(stored.bytes.toString());
}

describe('a file in a registry', () => {
  beforeEach(() => web.files.set('/app.tgz', { bytes: content, mediaType: 'application/gzip' }));

  it('does not replace signatures', async () => {
    const { digest: image, signature = '' } = await seedImage(registry, 'files/app', '1.0');
    const tag = `${digestTag(image)}.sig`;
    registry.contents.get('files/app')?.tags.set(tag, signature);
    const to = ({ session, folder }: TransferContext): FileEnds => ({
      source: openWebSource({ name: 'src', remoteURL: web.url, path: 'app.tgz' }, session),
      destination: ociFileSink(
        session.repository({ name: 'dst', remoteURL: registry.url, image: `files/app:${tag}` }, 'pull,push'),
        folder,
        session.retry,
      ),
      name: 'app.tgz',
    });
    await expect(copy(to)).rejects.toMatchObject({
      reason: 'config',
      message: expect.stringContaining(`Tag ${tag} in ${registry.host}/files/app already holds`),
    });
    expect(registry.contents.get('files/app')?.tags.get(tag)).toBe(signature);
  });

  it.each([{}, { expected: digest }])('is an artifact as created by ORAS (%j)', async (options) => {
    const copied = await toRegistry(options);
    expect(copied).toMatchObject({
      digest,
      mediaType: 'application/gzip',
      bytes: { copied: content.length },
    });
    expect(manifest()).toEqual({
      schemaVersion: 2,
      mediaType: 'application/vnd.oci.image.manifest.v1+json',
      artifactType: 'application/vnd.unknown.artifact.v1',
      config: {
        mediaType: 'application/vnd.oci.empty.v1+json',
        digest: 'sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a',
        size: 2,
      },
      layers: [
        {
          mediaType: 'application/gzip',
          digest,
          size: content.length,
          annotations: { 'org.opencontainers.image.title': 'app.tgz' },
        },
      ],
    });
  });

  it.each([
    ['text/html; charset=utf-8', 'text/html'],
    ['no type at all', 'application/octet-stream'],
    [`a/${'b'.repeat(200)}`, 'application/octet-stream'],
  ])('that its server serves as %s has the media type %s', async (told, mediaType) => {
    web.files.set('/app.tgz', { bytes: content, mediaType: told });
    await toRegistry();
    expect(manifest()).toMatchObject({ layers: [{ mediaType }] });
  });

  it('is not moved again', async () => {
    await toRegistry();
    expect(await toRegistry({ expected: digest })).toMatchObject({
      bytes: { existed: content.length, copied: 0 },
    });
  });

  it('is moved again with verify if the registry lost its content', async () => {
    const ordered = { expected: digest };
    await toRegistry(ordered);
    const { blobs } = registry.contents.get('files/app') ?? {};
    for (const lost of [...(blobs?.keys() ?? [])]) {
      blobs?.delete(lost);
      expect((await toRegistry(ordered)).bytes.copied).toBe(0);
      expect((await toRegistry(ordered, true)).bytes.copied).toBe(content.length);
      expect(blobs?.has(lost)).toBe(true);
    }
  });

  it('is read back unchanged', async () => {
    await toRegistry();
    expect(await fromRegistry('files/app:1.0')).toMatchObject({ digest });
    expect(web.files.get('/back.tgz')).toEqual({ bytes: content, mediaType: 'application/gzip' });
  });

  it('is not written if its digest is not the expected one', async () => {
    await transferFailure(toRegistry({ expected: digestOf(Buffer.from('x')) }));
    expect(manifest()).toBeUndefined();
  });

  it('that does not exist is named', async () => {
    const failure = await transferFailure(fromRegistry('files/none:1'));
    expect(failure).toMatchObject({
      reason: 'permanent',
      message: expect.stringContaining('no artifact 1 in repository files/none'),
    });
  });

  it('cannot be an image', async () => {
    await seedImage(registry, 'team/app', '1.0');
    const failure = await transferFailure(fromRegistry('team/app:1.0'));
    expect(failure).toMatchObject({
      reason: 'config',
      message: expect.stringContaining('not an artifact with one file'),
    });
  });
});
