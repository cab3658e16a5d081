import type { Condition } from '../kinds/common.ts';
import type { Endpoint } from '../kinds/endpoint.ts';
import { transition } from '../lifecycle/transition.ts';

/** Reasons that ARC finds by itself; those of a server's answer are of `shared/transfer`. */
export const validationReasons = [
  'Valid',
  'SecretNotFound',
  'SecretInvalid',
  'CASecretNotFound',
  'PolicyNotFound',
  'NotProbed',
  'Ready',
  'ExpiresSoon',
] as const;
export type ValidationReason = (typeof validationReasons)[number];

/** One aspect of an Endpoint, as a condition shows it. */
export type Finding = Pick<Condition, 'status' | 'reason' | 'message'>;

export interface Findings {
  validated: Finding;
  reachable: Finding;
  authenticated: Finding;
  /** When the server's certificate expires, where it showed one. */
  certificateExpiry?: Date;
}

const warningMs = 14 * 24 * 60 * 60 * 1000;

/**
 * The conditions of an Endpoint. Ready takes the first aspect that is False; what stays unknown about credentials does not count against it.
 * Stalled, after kstatus, says that a person has to act. CertificateExpiring is a warning and changes nothing else.
 */
export function endpointConditions(endpoint: Endpoint, findings: Findings, now: Date): Condition[] {
  const { metadata, status } = endpoint;
  const { validated, reachable, authenticated, certificateExpiry } = findings;
  const ready = readiness(validated, reachable, authenticated);
  const stalled = { ...ready, status: ready.status === 'False' ? ('True' as const) : ('False' as const) };
  const found: [string, Finding][] = [
    ['Validated', validated],
    ['Reachable', reachable],
    ['Authenticated', authenticated],
    ['Ready', ready],
    ['Stalled', stalled],
    ...(certificateExpiry
      ? [['CertificateExpiring', expiring(certificateExpiry, now)] as [string, Finding]]
      : []),
  ];
  const observed = metadata.generation === undefined ? {} : { observedGeneration: metadata.generation };
  return found.map(([type, finding]) =>
    transition(status?.conditions ?? [], now, { type, ...finding, ...observed }),
  );
}

function readiness(...aspects: [Finding, Finding, Finding]): Finding {
  const [validated, reachable, authenticated] = aspects;
  const bad = aspects.find(({ status }) => status === 'False');
  if (bad) return bad;
  if (validated.status === 'Unknown') return validated;
  if (reachable.status === 'Unknown') return reachable;
  const message =
    authenticated.status === 'True' ? 'it can be reached and takes the credentials' : 'it can be reached';
  return { status: 'True', reason: 'Ready', message };
}

function expiring(at: Date, now: Date): Finding {
  const day = at.toISOString().slice(0, 10);
  if (at.getTime() - now.getTime() > warningMs)
    return { status: 'False', reason: 'Valid', message: `the server's certificate is valid until ${day}` };
  return {
    status: 'True',
    reason: 'ExpiresSoon',
    message: `the server's certificate expires on ${day}: renew it`,
  };
}
