import type { Condition } from '../kinds/common.ts';
import type { Endpoint } from '../kinds/endpoint.ts';
import { transition } from '../lifecycle/transition.ts';

/** Reasons that ARC determines itself; the reasons of a server's answer are in `shared/transfer`. */
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

/** One aspect of an Endpoint, as in a condition. */
export type Finding = Pick<Condition, 'status' | 'reason' | 'message'>;

export interface Findings {
  validated: Finding;
  reachable: Finding;
  authenticated: Finding;
  /** When the server's certificate expires, if the server presented one. */
  certificateExpiry?: Date;
}

const warningMs = 14 * 24 * 60 * 60 * 1000;

/**
 * Returns the conditions of an Endpoint. Ready follows the first aspect that is False; unknown credentials do not count against it.
 * Stalled (kstatus) means that a person has to act. CertificateExpiring is a warning and affects no other condition.
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
