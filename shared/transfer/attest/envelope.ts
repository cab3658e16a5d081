import { createHash, createPublicKey, type KeyObject } from 'node:crypto';
import { inTotoType } from '../content/own-manifests.ts';
import { inTotoMessage } from '../policy/signature.ts';
import { signBytes } from './detached-signature.ts';
import type { Statement } from './statement.ts';

/** An attestation in the form in which it is attached to an image. */
export interface Envelope {
  mediaType: string;
  content: Buffer;
  /** The annotations that cosign reads. */
  annotations: Record<string, string>;
}

const bundleType = 'application/vnd.dev.sigstore.bundle.v0.3+json';

/**
 * Wraps a statement. With a key: a Sigstore bundle with a DSSE envelope (github.com/secure-systems-lab/dsse), as cosign 3 attaches and
 * verifies it, without a transparency log entry. Without a key: the bare statement, which informs but proves nothing.
 */
export function envelopeOf(statement: Statement, key: KeyObject | undefined): Envelope {
  const payload = Buffer.from(JSON.stringify(statement));
  const predicate = { 'in-toto.io/predicate-type': statement.predicateType };
  if (key === undefined) return { mediaType: inTotoType, content: payload, annotations: predicate };
  const sig = signBytes(inTotoMessage(payload), key).toString().trim();
  const bundle = {
    mediaType: bundleType,
    verificationMaterial: { publicKey: { hint: hintOf(key) } },
    dsseEnvelope: { payload: payload.toString('base64'), payloadType: inTotoType, signatures: [{ sig }] },
  };
  return {
    mediaType: bundleType,
    content: Buffer.from(JSON.stringify(bundle)),
    annotations: {
      ...predicate,
      'dev.sigstore.bundle.content': 'dsse-envelope',
      'dev.sigstore.bundle.predicateType': statement.predicateType,
    },
  };
}

/** Returns the signature of a file as a Sigstore bundle, for `cosign verify-blob --key`. */
export function signedBlob(content: Uint8Array, key: KeyObject): Buffer {
  const digest = createHash('sha256').update(content).digest('base64');
  const signature = signBytes(content, key).toString().trim();
  const bundle = {
    mediaType: bundleType,
    verificationMaterial: { publicKey: { hint: hintOf(key) } },
    messageSignature: { messageDigest: { algorithm: 'SHA2_256', digest }, signature },
  };
  return Buffer.from(JSON.stringify(bundle));
}

/** The key hint in cosign's format. */
function hintOf(key: KeyObject): string {
  const spki = createPublicKey(key).export({ type: 'spki', format: 'der' });
  return createHash('sha256').update(spki).digest('base64');
}
