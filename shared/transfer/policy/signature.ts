import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { isRecord } from '#shared/base/meta';
import { inTotoType } from '../content/own-manifests.ts';

/** A signature as cosign attaches it, not verified yet. */
export type Signature =
  /** A simple signing payload with a signature of its bytes (cosign's SIGNATURE_SPEC.md). */
  | { form: 'payload'; payload: Buffer; signature: Buffer; certified?: Certified }
  /** A Sigstore bundle in JSON; one with a DSSE envelope can hold a signature of an image. */
  | { form: 'bundle'; bundle: Buffer };

/** What cosign 2 writes beside a signature without a key, as it stands in the annotations of the layer. */
export interface Certified {
  /** PEM. */
  certificate: string;
  /** The entry of the transparency log in JSON. */
  entry: string;
}

/** Who has signed, by a certificate that a trust root vouches for, and for which digests; or why the signature does not count. */
export type Keyless = { identity: string; issuer: string; says: readonly unknown[] } | { refused: string };

/** `signed-something-else`: the signature is good, but of another digest, or says something else of it. */
export type Verdict = 'signed' | 'signed-something-else' | 'not-signed';

/** The `critical.type` of a simple signing payload by cosign. */
const payloadType = 'cosign container image signature';
/** The predicate of a bundle by which `cosign sign` signs an image; attestations have others. */
const signPredicate = 'https://sigstore.dev/cosign/sign/v1';

/** Media types of Sigstore's bundles. */
export const bundleTypes = /^application\/vnd\.dev\.sigstore\.bundle(\.v0\.\d+\+json|\+json;version=0\.\d+)$/;

/** The key in a PEM. Throws for one that `publicKeyProblem` of shared/domain refuses. */
export function keyOf(pem: string): KeyObject {
  return createPublicKey(pem);
}

/** Whether `key` has signed that `digest` is an image of its owner. Nothing that is not verified is read. */
export function verdictOn(signature: Signature, digest: string, key: KeyObject): Verdict {
  const said = signature.form === 'payload' ? payloadSays(signature, key) : bundleSays(signature.bundle, key);
  if (said === undefined) return 'not-signed';
  return said.includes(digest) ? 'signed' : 'signed-something-else';
}

/** The digests that a verified signature is for; undefined if it is not by this key. */
function payloadSays(
  { payload, signature }: { payload: Buffer; signature: Buffer },
  key: KeyObject,
): readonly unknown[] | undefined {
  return isSignedBy(key, payload, signature) ? imageOfPayload(payload) : undefined;
}

/** What a payload that is verified says. */
export function imageOfPayload(payload: Buffer): readonly unknown[] {
  const { critical } = fieldsOf(parsed(payload));
  const { type, image } = fieldsOf(critical);
  return type === payloadType ? [fieldsOf(image)['docker-manifest-digest']] : [];
}

/** The same of a bundle by which an image is signed. */
function bundleSays(bundle: Buffer, key: KeyObject): readonly unknown[] | undefined {
  const statement = statementBy(bundle, key);
  return statement && imagesOfStatement(statement);
}

/** What a statement that is verified says. */
export function imagesOfStatement({ predicateType, subjects }: Statement): readonly string[] {
  return predicateType === signPredicate ? subjects : [];
}

/** An in-toto statement; its subjects are digests. */
export interface Statement {
  predicateType: unknown;
  subjects: readonly string[];
  predicate: unknown;
}

/**
 * The statement in a bundle with a DSSE envelope (github.com/secure-systems-lab/dsse), if `key` has signed it. Nothing that is not verified is read.
 */
export function statementBy(bundle: Buffer, key: KeyObject): Statement | undefined {
  const envelope = fieldsOf(parsed(bundle)).dsseEnvelope;
  const { signatures } = fieldsOf(envelope);
  const body = bodyOf(envelope);
  if (body === undefined || !Array.isArray(signatures)) return undefined;
  const message = inTotoMessage(body);
  const isBy = (one: unknown): boolean => {
    const { sig } = fieldsOf(one);
    return typeof sig === 'string' && isSignedBy(key, message, Buffer.from(sig, 'base64'));
  };
  if (!signatures.slice(0, mostSignatures).some(isBy)) return undefined;
  return statementIn(body);
}

/** The statement in a bundle or in an envelope of its own, whoever has signed it: for what an attachment says by its media type elsewhere. */
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

/** What is signed of a statement: the pre-authentication encoding of DSSE. */
export function inTotoMessage(statement: Buffer): Buffer {
  return Buffer.concat([
    Buffer.from(`DSSEv1 ${inTotoType.length} ${inTotoType} ${statement.length} `),
    statement,
  ]);
}

/** The statement in an envelope that is verified. */
export function statementIn(body: Buffer): Statement {
  const { predicateType, subject, predicate } = fieldsOf(parsed(body));
  const digests = (Array.isArray(subject) ? subject : []).flatMap((one) =>
    Object.entries(fieldsOf(fieldsOf(one).digest)).map(([algorithm, hex]) => `${algorithm}:${String(hex)}`),
  );
  return { predicateType, subjects: digests, predicate };
}

/** Of one envelope, so many are looked at. cosign writes one. */
const mostSignatures = 10;

/** cosign hashes with SHA-256 whatever the curve; its later versions take SHA-384 for P-384. */
function isSignedBy(key: KeyObject, message: Buffer, signature: Buffer): boolean {
  const isP384 = key.asymmetricKeyDetails?.namedCurve === 'secp384r1';
  const hashes =
    key.asymmetricKeyType === 'ed25519' ? [undefined] : isP384 ? ['sha256', 'sha384'] : ['sha256'];
  return hashes.some((hash) => {
    try {
      return verify(hash, message, key, signature);
    } catch {
      // Not a signature at all.
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
