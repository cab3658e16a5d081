/** One aspect of a server, in the form of a condition. */
export interface Finding<Reason extends string = string> {
  status: 'True' | 'False' | 'Unknown';
  reason: Reason;
  message: string;
}

export const reachableReasons = [
  'Reachable',
  'DNSFailure',
  'ConnectionRefused',
  'TLSError',
  'Timeout',
  'TargetDenied',
  'ProbeFailed',
  'NotFound',
  'ServerError',
  'UnsupportedScheme',
  'NotProbed',
] as const;
export type ReachableReason = (typeof reachableReasons)[number];

export const authenticatedReasons = [
  'Authenticated',
  'Anonymous',
  'NoCredentials',
  'WorkerIdentity',
  'Unauthorized',
  'InsecureTransport',
  'UnsupportedAuthScheme',
  'Inconclusive',
  'NotExercised',
] as const;
export type AuthenticatedReason = (typeof authenticatedReasons)[number];
