import { vulnerabilityPredicate } from '../policy/scan-report.ts';

/**
 * An in-toto statement about one manifest (github.com/in-toto/attestation, spec/v1). It is no provenance of SLSA, which would tell how the artifact was
 * built: whoever asks for that must not be content with who moved it.
 */
export interface Statement {
  _type: 'https://in-toto.io/Statement/v1';
  subject: readonly { name?: string; digest: Readonly<Record<string, string>> }[];
  predicateType: string;
  predicate: object;
}

export const transferPredicate = 'https://arc.opendefense.cloud/attestation/transfer/v1';

/** What a transfer says of itself. */
export interface Transfer {
  digest: string;
  /** `host[:port]/path`; undefined where the place has no such name. */
  source: string | undefined;
  destination: string | undefined;
  /** The policy that let it pass, as it stands in the type; of several a list, each with where it comes from. */
  policy: string | undefined;
  /** The SBOMs by which it passed. */
  sboms: readonly { subject: string; type: string; digest?: string }[];
  at: Date;
}

export function transferStatement({ digest, source, destination, policy, sboms, at }: Transfer): Statement {
  return statement(digest, destination, transferPredicate, {
    transferredOn: at.toISOString(),
    ...(source !== undefined && { source: { uri: `oci://${source}`, digest: digestSet(digest) } }),
    ...(destination !== undefined && { destination: { uri: `oci://${destination}` } }),
    // The text, so that whoever verifies it sees what was asked for.
    ...(policy !== undefined && { policy }),
    ...(sboms.length > 0 && { sboms }),
  });
}

/** What a scanner has said of an image: the form of `cosign attest --type vuln`, which a policy reads at the next destination. */
export interface Scan {
  digest: string;
  destination: string | undefined;
  scanner: string;
  report: unknown;
  at: Date;
}

export function scanStatement({ digest, destination, scanner, report, at }: Scan): Statement {
  return statement(digest, destination, vulnerabilityPredicate, {
    invocation: {},
    scanner: { uri: `https://github.com/${scanner}`, result: report },
    metadata: { scanFinishedOn: at.toISOString() },
  });
}

function statement(
  digest: string,
  name: string | undefined,
  predicateType: string,
  predicate: object,
): Statement {
  const subject = [{ ...(name !== undefined && { name }), digest: digestSet(digest) }];
  return { _type: 'https://in-toto.io/Statement/v1', subject, predicateType, predicate };
}

function digestSet(digest: string): Record<string, string> {
  const [algorithm = '', hex = ''] = digest.split(':');
  return { [algorithm]: hex };
}
