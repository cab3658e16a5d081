import { type KeyObject, sign } from 'node:crypto';
import { type Registry, repositoryOf } from '../../local/registry/index.ts';
import { ociManifest, parseManifest } from '../content/manifest.ts';
import { digestOf, digestTag } from '../reference/digest.ts';

/** The location of an attachment: under cosign's tag, or as a referrer. */
export type Where = 'sig' | 'sbom' | 'referrer';

export const payloadType = 'application/vnd.dev.cosign.simplesigning.v1+json';
export const bundleType = 'application/vnd.dev.sigstore.bundle.v0.3+json';

/** The payload that `cosign sign` signs for an image. */
export function payloadOf(digest: string, type = 'cosign container image signature'): Buffer {
  const critical = {
    identity: { 'docker-reference': 'registry.example.com/team/app' },
    image: { 'docker-manifest-digest': digest },
    type,
  };
  return Buffer.from(JSON.stringify({ critical, optional: null }));
}

/** cosign signs with SHA-256; Ed25519 needs no prehash. */
export function signed(bytes: Buffer, key: KeyObject, hash = 'sha256'): Buffer {
  return sign(key.asymmetricKeyType === 'ed25519' ? null : hash, bytes, key);
}

/** The bundle of `cosign sign --new-bundle-format --key`, or of an attestation with another predicate. */
export function bundleOf(
  digest: string,
  key: KeyObject,
  predicateType = 'https://sigstore.dev/cosign/sign/v1',
  predicate: object = {},
): Buffer {
  const [algorithm = '', hex = ''] = digest.split(':');
  const statement = {
    _type: 'https://in-toto.io/Statement/v1',
    subject: [{ digest: { [algorithm]: hex } }],
    predicateType,
    predicate,
  };
  const payload = Buffer.from(JSON.stringify(statement));
  const payloadType = 'application/vnd.in-toto+json';
  const message = Buffer.concat([
    Buffer.from(`DSSEv1 ${payloadType.length} ${payloadType} ${payload.length} `),
    payload,
  ]);
  return Buffer.from(
    JSON.stringify({
      mediaType: bundleType,
      verificationMaterial: { publicKey: { hint: 'key' } },
      dsseEnvelope: {
        payload: payload.toString('base64'),
        payloadType,
        signatures: [{ sig: signed(message, key).toString('base64') }],
      },
    }),
  );
}

/** An attachment with one layer. */
export interface Attachment {
  mediaType: string;
  content: Buffer;
  annotations?: Record<string, string>;
}

/** A simple signing payload with its signature. */
export function payloadLayer(content: Buffer, signature: Buffer): Attachment {
  const annotations = { 'dev.cosignproject.cosign/signature': signature.toString('base64') };
  return { mediaType: payloadType, content, annotations };
}

/** Attaches layers to `subject`, in one manifest. `headers` authenticate at the registry. */
export async function attach(
  registry: Registry,
  repository: string,
  subject: string,
  where: Where,
  layers: readonly Attachment[],
  headers: Record<string, string> = {},
): Promise<void> {
  const stored = repositoryOf(registry.contents, repository);
  const blob = (mediaType: string, content: Buffer) => {
    stored.blobs.set(digestOf(content), content);
    return { mediaType, digest: digestOf(content), size: content.length };
  };
  const manifest = {
    schemaVersion: 2,
    mediaType: ociManifest,
    config: blob('application/vnd.oci.image.config.v1+json', Buffer.from('{}')),
    layers: layers.map(({ mediaType, content, annotations = {} }) => ({
      ...blob(mediaType, content),
      annotations,
    })),
    ...(where === 'referrer' && {
      artifactType: layers[0]?.mediaType,
      subject: { mediaType: ociManifest, digest: subject, size: 1 },
    }),
  };
  const bytes = Buffer.from(JSON.stringify(manifest));
  const reference = where === 'referrer' ? parseManifest(bytes, '').digest : `${digestTag(subject)}.${where}`;
  const answer = await fetch(`${registry.url}/v2/${repository}/manifests/${reference}`, {
    method: 'PUT',
    headers: { ...headers, 'content-type': ociManifest },
    body: bytes,
  });
  if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
}
