import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { isoSeconds } from '#shared/base/meta';
import {
  type Descriptor,
  digestOf,
  type Envelope,
  envelopeOf,
  type Statement,
  signedBlob,
} from '#shared/transfer';
import type { ReleaseContext } from './context.ts';

/** The statement of `cosign sign` 3 about an image. */
const signPredicate = 'https://sigstore.dev/cosign/sign/v1';
const emptyConfig = Buffer.from('{}');
const ociManifest = 'application/vnd.oci.image.manifest.v1+json';

/** Writes the signature of a file beside the file. */
export async function signFile(file: string, { key }: ReleaseContext): Promise<void> {
  if (key) await writeFile(`${file}.sigstore.json`, signedBlob(await readFile(file), key));
}

/** Writes a statement and, with a key, its signed form in `<name>.sigstore.json`. */
export async function writeStatement(
  file: string,
  statement: Statement,
  { key }: ReleaseContext,
): Promise<void> {
  await writeFile(file, `${JSON.stringify(statement, undefined, 2)}\n`);
  if (key) await writeFile(file.replace(/\.json$/, '.sigstore.json'), envelopeOf(statement, key).content);
}

/**
 * Signs an image in an OCI layout and attests its provenance, as referrers. They are copied with the image, and `cosign verify` and
 * `cosign verify-attestation` find them.
 */
export async function signImage(
  layout: string,
  root: Descriptor,
  provenance: Statement,
  context: ReleaseContext,
): Promise<void> {
  const { key, image } = context;
  if (!key) return;
  const [algorithm = '', hex = ''] = root.digest.split(':');
  const subject = [{ name: image, digest: { [algorithm]: hex } }];
  const signed: Statement = { ...provenance, subject, predicateType: signPredicate, predicate: {} };
  for (const statement of [signed, { ...provenance, subject }])
    await attach(layout, root, envelopeOf(statement, key), context);
}

async function attach(
  layout: string,
  { mediaType, digest, size }: Descriptor,
  { mediaType: artifactType, content, annotations }: Envelope,
  { time }: ReleaseContext,
): Promise<void> {
  const store = async (type: string, bytes: Buffer): Promise<Descriptor> => {
    const blobDigest = digestOf(bytes);
    await writeFile(path.join(layout, 'blobs', blobDigest.replace(':', '/')), bytes);
    return { mediaType: type, digest: blobDigest, size: bytes.length };
  };
  const created = { 'org.opencontainers.image.created': isoSeconds(time * 1000) };
  const manifest = {
    schemaVersion: 2,
    mediaType: ociManifest,
    artifactType,
    config: await store('application/vnd.oci.empty.v1+json', emptyConfig),
    layers: [await store(artifactType, content)],
    subject: { mediaType, digest, size },
    annotations: { ...annotations, ...created },
  };
  const entry = await store(ociManifest, Buffer.from(JSON.stringify(manifest)));
  const file = path.join(layout, 'index.json');
  const index: { manifests: object[] } = JSON.parse(await readFile(file, 'utf8'));
  index.manifests.push({ ...entry, artifactType });
  await writeFile(file, JSON.stringify(index));
}
