import { vulnerabilityPredicate } from '../policy/scan-report.ts';

/**
 * An in-toto statement about one manifest (github.com/in-toto/attestation, spec/v1). It is deliberately no SLSA provenance, which describes how
 * an artifact was built: a transfer must not pass for that.
 */
export interface Statement {
  _type: 'https://in-toto.io/Statement/v1';
  subject: readonly { name?: string; digest: Readonly<Record<string, string>> }[];
  predicateType: string;
  predicate: object;
}

export const transferPredicate = 'https://arc.opendefense.cloud/attestation/transfer/v1';

/** The facts of a transfer that are attested. */
export interface Transfer {
  digest: string;
  /** `host[:port]/path`; undefined if the place has no such name. */
  source: string | undefined;
  destination: string | undefined;
  /** The policy that allowed the transfer, as in the artifact type; several policies are a list with their origins. */
  policy: string | undefined;
  /** The SBOMs that satisfied the policy. */
  sboms: readonly { subject: string; type: string; digest?: string }[];
  at: Date;
}

export function transferStatement({ digest, source, destination, policy, sboms, at }: Transfer): Statement {
  return statement(digest, destination, transferPredicate, {
    transferredOn: at.toISOString(),
    ...(source !== undefined && { source: { uri: `oci://${source}`, digest: digestSet(digest) } }),
    ...(destination !== undefined && { destination: { uri: `oci://${destination}` } }),
    // The full text, so that verifiers can see what the policy required.
    ...(policy !== undefined && { policy }),
    ...(sboms.length > 0 && { sboms }),
  });
}

/** A scan report to attest, in the form of `cosign attest --type vuln`, which a policy can read at the next destination. */
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
