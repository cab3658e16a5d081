import { createHash, X509Certificate } from 'node:crypto';
import { type Bundle, bundleFromJSON } from '@sigstore/bundle';
import { TrustedRoot } from '@sigstore/protobuf-specs';
import { toSignedEntity, toTrustMaterial, Verifier } from '@sigstore/verify';
import { isRecord } from '#shared/base/meta';
import { inTotoType } from '../content/own-manifests.ts';
import {
  type Certified,
  imageOfPayload,
  imagesOfStatement,
  type Keyless,
  type Signature,
  statementIn,
} from './signature.ts';
import { unusable } from './trusted-root.ts';

// Loaded only for policies that name an identity: see gate.ts.

/** A bundle has one or two of each; each costs a verification. */
const maxProofs = 10;
const codeSigning = '1.3.6.1.5.5.7.3.3';

/**
 * Creates a verifier of keyless signatures against a trust root (Sigstore's JSON): the certificate chains to one of its CAs, is recorded in
 * one of its certificate transparency logs, and was valid when one of its transparency logs recorded the signature. Works offline. Throws a
 * config TransferError for an unreadable trust root.
 */
export function keylessVerifier(trustedRoot: string): (signature: Signature) => Keyless {
  const verifier = new Verifier(trustMaterialOf(trustedRoot));
  return (signature) => {
    try {
      return verifyKeyless(signature, verifier);
    } catch (caught) {
      // Signatures are untrusted input: one that fails to parse is refused.
      const why = caught instanceof Error ? caught.message : String(caught);
      return { refused: why };
    }
  };
}

function trustMaterialOf(trustedRoot: string) {
  const material = parsed(trustedRoot);
  const { certificateAuthorities = [], ctlogs = [], tlogs = [] } = material ?? {};
  // Without them the trust root would deny everything for no visible reason.
  if (material !== undefined && [certificateAuthorities, ctlogs, tlogs].every(({ length }) => length > 0))
    return material;
  throw unusable('it is not a trusted_root.json of Sigstore with certificate authorities and logs');
}

function parsed(trustedRoot: string) {
  try {
    return toTrustMaterial(TrustedRoot.fromJSON(JSON.parse(trustedRoot)));
  } catch {
    // The parser's message quotes the file.
    return undefined;
  }
}

function verifyKeyless(signature: Signature, verifier: Verifier): Keyless {
  const bundle =
    signature.form === 'bundle'
      ? bundleFromJSON(JSON.parse(signature.bundle.toString('utf8')))
      : bundleOfAnnotations(signature);
  if (bundle === undefined) return { refused: 'it has no certificate, or no transparency log entry' };
  const { tlogEntries, timestampVerificationData } = bundle.verificationMaterial;
  if (tlogEntries.length + (timestampVerificationData?.rfc3161Timestamps.length ?? 0) > maxProofs)
    return { refused: `it has more than ${maxProofs} log entries and timestamps` };
  const certificate = certificateOf(bundle);
  if (certificate === undefined) return { refused: 'it has no certificate' };
  const artifact = signature.form === 'payload' ? signature.payload : undefined;
  const { identity } = verifier.verify(toSignedEntity(bundle, artifact));
  if (!new X509Certificate(certificate).keyUsage?.includes(codeSigning))
    return { refused: 'its certificate is not for signing code' };
  const name = identity?.subjectAlternativeName;
  const issuer = identity?.extensions?.issuer;
  if (!name || !issuer) return { refused: 'its certificate has no subject, or no issuer' };
  return { identity: name, issuer, signedDigests: signedDigestsOf(bundle, artifact) };
}

/** The digests that a verified bundle signs. */
function signedDigestsOf({ content }: Bundle, artifact: Buffer | undefined): readonly unknown[] {
  if (content.$case === 'messageSignature') return artifact === undefined ? [] : imageOfPayload(artifact);
  const { payloadType, payload } = content.dsseEnvelope;
  return payloadType === inTotoType ? imagesOfStatement(statementIn(payload)) : [];
}

function certificateOf({ verificationMaterial: { content } }: Bundle): Uint8Array | undefined {
  if (content.$case === 'certificate') return content.certificate.rawBytes;
  if (content.$case === 'x509CertificateChain') return content.x509CertificateChain.certificates[0]?.rawBytes;
  return undefined;
}

/** Converts the annotations of cosign 2 into the first version of Sigstore's bundles. */
function bundleOfAnnotations({
  payload,
  signature,
  certified,
}: Signature & { form: 'payload' }): Bundle | undefined {
  if (certified === undefined) return undefined;
  const { body, integratedTime, logIndex, logID, promise } = entryOf(certified);
  const { kind, apiVersion } = fieldsOf(JSON.parse(Buffer.from(body, 'base64').toString('utf8')));
  const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');
  return bundleFromJSON({
    mediaType: 'application/vnd.dev.sigstore.bundle+json;version=0.1',
    verificationMaterial: {
      x509CertificateChain: {
        certificates: [{ rawBytes: base64(new X509Certificate(certified.certificate).raw) }],
      },
      tlogEntries: [
        {
          logIndex,
          logId: { keyId: base64(Buffer.from(logID, 'hex')) },
          kindVersion: { kind, version: apiVersion },
          integratedTime,
          inclusionPromise: { signedEntryTimestamp: promise },
          canonicalizedBody: body,
        },
      ],
    },
    messageSignature: {
      messageDigest: { algorithm: 'SHA2_256', digest: createHash('sha256').update(payload).digest('base64') },
      signature: base64(signature),
    },
  });
}

function entryOf({ entry }: Certified) {
  const { SignedEntryTimestamp, Payload } = fieldsOf(JSON.parse(entry));
  const { body, integratedTime, logIndex, logID } = fieldsOf(Payload);
  return {
    body: String(body),
    integratedTime: String(integratedTime),
    logIndex: String(logIndex),
    logID: String(logID),
    promise: String(SignedEntryTimestamp),
  };
}

function fieldsOf(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {};
}
