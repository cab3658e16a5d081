import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { isRecord } from '#shared/meta';

/** A signature as cosign attaches it, not verified yet. */
export type Signature =
  /** A simple signing payload with a signature of its bytes (cosign's SIGNATURE_SPEC.md). */
  | { form: 'payload'; payload: Buffer; signature: Buffer }
  /** A Sigstore bundle in JSON; one with a DSSE envelope can hold a signature of an image. */
  | { form: 'bundle'; bundle: Buffer };

/** `signed-something-else`: the signature is good, but of another digest, or says something else of it. */
export type Verdict = 'signed' | 'signed-something-else' | 'not-signed';

/** The `critical.type` of a simple signing payload by cosign. */
const payloadType = 'cosign container image signature';
/** The predicate of a bundle by which `cosign sign` signs an image; attestations have others. */
const signPredicate = 'https://sigstore.dev/cosign/sign/v1';
const inTotoType = 'application/vnd.in-toto+json';

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
): unknown[] | undefined {
  if (!isSignedBy(key, payload, signature)) return undefined;
  const { critical } = fieldsOf(parsed(payload));
  const { type, image } = fieldsOf(critical);
  return type === payloadType ? [fieldsOf(image)['docker-manifest-digest']] : [];
}

/** The same of a bundle with a DSSE envelope (github.com/secure-systems-lab/dsse) around an in-toto statement. */
function bundleSays(bundle: Buffer, key: KeyObject): unknown[] | undefined {
  const { payload, payloadType: type, signatures } = fieldsOf(fieldsOf(parsed(bundle)).dsseEnvelope);
  if (typeof payload !== 'string' || type !== inTotoType || !Array.isArray(signatures)) return undefined;
  const body = Buffer.from(payload, 'base64');
  const message = Buffer.concat([Buffer.from(`DSSEv1 ${type.length} ${type} ${body.length} `), body]);
  const isBy = (one: unknown): boolean => {
    const { sig } = fieldsOf(one);
    return typeof sig === 'string' && isSignedBy(key, message, Buffer.from(sig, 'base64'));
  };
  if (!signatures.slice(0, mostSignatures).some(isBy)) return undefined;
  const { predicateType, subject } = fieldsOf(parsed(body));
  if (predicateType !== signPredicate || !Array.isArray(subject)) return [];
  return subject.flatMap((one) =>
    Object.entries(fieldsOf(fieldsOf(one).digest)).map(([algorithm, hex]) => `${algorithm}:${String(hex)}`),
  );
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
