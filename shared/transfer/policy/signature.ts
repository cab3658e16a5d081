import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { isRecord } from '#shared/base/meta';
import { inTotoType } from '../content/own-manifests.ts';

/** An unverified signature as cosign attaches it. */
export type Signature =
  /** A simple signing payload with its signature (cosign's SIGNATURE_SPEC.md). */
  | { form: 'payload'; payload: Buffer; signature: Buffer; certified?: Certified }
  /** A Sigstore bundle (JSON); with a DSSE envelope it may sign an image. */
  | { form: 'bundle'; bundle: Buffer };

/** The annotations that cosign 2 adds to a keyless signature. */
export interface Certified {
  /** PEM. */
  certificate: string;
  /** The transparency log entry (JSON). */
  entry: string;
}

/** The verified signer of a keyless signature, and the digests that it signs; or why the signature is refused. */
export type Keyless =
  | { identity: string; issuer: string; signedDigests: readonly unknown[] }
  | { refused: string };

/** `signed-something-else`: the signature is valid, but for another digest or with another claim. */
export type Verdict = 'signed' | 'signed-something-else' | 'not-signed';

/** The `critical.type` of cosign's simple signing payload. */
const payloadType = 'cosign container image signature';
/** The predicate type of `cosign sign`; attestations have others. */
const signPredicate = 'https://sigstore.dev/cosign/sign/v1';

/** Media types of Sigstore bundles. */
export const bundleTypes = /^application\/vnd\.dev\.sigstore\.bundle(\.v0\.\d+\+json|\+json;version=0\.\d+)$/;

/** Parses a PEM public key. Throws for keys that `publicKeyProblem` of shared/domain rejects. */
export function keyOf(pem: string): KeyObject {
  return createPublicKey(pem);
}

/** Verifies that `key` has signed `digest` as an image. Unverified content is not interpreted. */
export function verifySignature(signature: Signature, digest: string, key: KeyObject): Verdict {
  const said =
    signature.form === 'payload'
      ? digestsSignedByPayload(signature, key)
      : digestsSignedByBundle(signature.bundle, key);
  if (said === undefined) return 'not-signed';
  return said.includes(digest) ? 'signed' : 'signed-something-else';
}

/** The digests that the payload signs; undefined if `key` did not sign it. */
function digestsSignedByPayload(
  { payload, signature }: { payload: Buffer; signature: Buffer },
  key: KeyObject,
): readonly unknown[] | undefined {
  return isSignedBy(key, payload, signature) ? imageOfPayload(payload) : undefined;
}

/** The digests that a verified payload signs. */
export function imageOfPayload(payload: Buffer): readonly unknown[] {
  const { critical } = fieldsOf(parsed(payload));
  const { type, image } = fieldsOf(critical);
  return type === payloadType ? [fieldsOf(image)['docker-manifest-digest']] : [];
}

/** The digests that the bundle signs; undefined if `key` did not sign it. */
function digestsSignedByBundle(bundle: Buffer, key: KeyObject): readonly unknown[] | undefined {
  const statement = verifiedStatement(bundle, key);
  return statement && imagesOfStatement(statement);
}

/** The digests that a verified statement signs. */
export function imagesOfStatement({ predicateType, subjects }: Statement): readonly string[] {
  return predicateType === signPredicate ? subjects : [];
}

/** An in-toto statement; `subjects` are digests. */
export interface Statement {
  predicateType: unknown;
  subjects: readonly string[];
  predicate: unknown;
}

/**
 * The statement in a bundle with a DSSE envelope (github.com/secure-systems-lab/dsse), if `key` has signed it. Unverified content is not
 * interpreted.
 */
export function verifiedStatement(bundle: Buffer, key: KeyObject): Statement | undefined {
  const envelope = fieldsOf(parsed(bundle)).dsseEnvelope;
  const { signatures } = fieldsOf(envelope);
  const body = bodyOf(envelope);
  if (body === undefined || !Array.isArray(signatures)) return undefined;
  const message = inTotoMessage(body);
  const isBy = (entry: unknown): boolean => {
    const { sig } = fieldsOf(entry);
    return typeof sig === 'string' && isSignedBy(key, message, Buffer.from(sig, 'base64'));
  };
  if (!signatures.slice(0, maxSignatures).some(isBy)) return undefined;
  return statementIn(body);
}

/** The statement of a bundle or a bare envelope, without verification: for claims that need no trust, such as the presence of an SBOM. */
export function unverifiedStatement(content: Buffer): Statement | undefined {
  const value = fieldsOf(parsed(content));
  const body = bodyOf(value.dsseEnvelope ?? value);
  return body && statementIn(body);
}

function bodyOf(envelope: unknown): Buffer | undefined {
  const { payload, payloadType } = fieldsOf(envelope);
  return typeof payload === 'string' && payloadType === inTotoType
    ? Buffer.from(payload, 'base64')
    : undefined;
}

/** The signed bytes of a statement: DSSE's pre-authentication encoding. */
export function inTotoMessage(statement: Buffer): Buffer {
  return Buffer.concat([
    Buffer.from(`DSSEv1 ${inTotoType.length} ${inTotoType} ${statement.length} `),
    statement,
  ]);
}

/** Parses the payload of an envelope. */
export function statementIn(body: Buffer): Statement {
  const { predicateType, subject, predicate } = fieldsOf(parsed(body));
  const digests = (Array.isArray(subject) ? subject : []).flatMap((one) =>
    Object.entries(fieldsOf(fieldsOf(one).digest)).map(([algorithm, hex]) => `${algorithm}:${String(hex)}`),
  );
  return { predicateType, subjects: digests, predicate };
}

/** Bounds the signatures per envelope. cosign writes one. */
const maxSignatures = 10;

/** cosign uses SHA-256 for every curve; later versions use SHA-384 for P-384. */
function isSignedBy(key: KeyObject, message: Buffer, signature: Buffer): boolean {
  const isP384 = key.asymmetricKeyDetails?.namedCurve === 'secp384r1';
  const hashes =
    key.asymmetricKeyType === 'ed25519' ? [undefined] : isP384 ? ['sha256', 'sha384'] : ['sha256'];
  return hashes.some((hash) => {
    try {
      return verify(hash, message, key, signature);
    } catch {
      // Malformed signature.
      return false;
    }
  });
}

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}

function fieldsOf(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {};
}
