/** One aspect of a server, as a condition shows it. */
export interface Finding<Reason extends string = string> {
  status: 'True' | 'False' | 'Unknown';
  reason: Reason;
  message: string;
}

export type ReachableReason =
  | 'Reachable'
  | 'DNSFailure'
  | 'ConnectionRefused'
  | 'TLSError'
  | 'Timeout'
  | 'TargetDenied'
  | 'ProbeFailed'
  | 'NotFound'
  | 'ServerError'
  | 'UnsupportedScheme';

export type AuthenticatedReason =
  | 'Authenticated'
  | 'Anonymous'
  | 'NoCredentials'
  | 'Unauthorized'
  | 'InsecureTransport'
  | 'UnsupportedAuthScheme'
  | 'Inconclusive'
  | 'NotExercised';
