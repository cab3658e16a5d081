import { TransferError } from '../errors/transfer-error.ts';
import { connectionEnd } from '../http/connection-end.ts';
import { tlsProblem } from '../http/request-failures.ts';
import type { ReachableReason } from './finding.ts';

const reasons: Readonly<Record<string, { reason: ReachableReason; text: string }>> = {
  ENOTFOUND: { reason: 'DNSFailure', text: 'its name cannot be resolved: check remoteURL and DNS' },
  EAI_AGAIN: { reason: 'DNSFailure', text: 'its name cannot be resolved at the moment: check DNS' },
  ENODATA: { reason: 'DNSFailure', text: 'its name has no address: check remoteURL and DNS' },
  ECONNREFUSED: {
    reason: 'ConnectionRefused',
    text: 'connection refused: check host and port in remoteURL',
  },
  ETIMEDOUT: { reason: 'Timeout', text: 'it did not answer in time: check network and firewall' },
  ABORT_ERR: { reason: 'Timeout', text: 'it did not answer in time: check network and firewall' },
};

/** Explains why a server cannot be reached, and what to do. */
export function unreachable(
  caught: unknown,
  endpoint: string,
  remoteURL: string,
): { reason: ReachableReason; message: string } {
  const message = (text: string) => `${remoteURL} cannot be reached: ${text}`;
  if (caught instanceof TransferError) return { reason: 'ProbeFailed', message: caught.message };
  const code = caught instanceof Error && 'code' in caught ? String(caught.code) : '';
  if (code === 'ERR_ADDRESS_DENIED')
    return { reason: 'TargetDenied', message: message(`${caught instanceof Error ? caught.message : code}`) };
  if (caught instanceof Error && (caught.name === 'TimeoutError' || caught.name === 'AbortError'))
    return { reason: 'Timeout', message: message('it did not answer in time: check network and firewall') };
  const known = reasons[code];
  if (known) return { reason: known.reason, message: message(known.text) };
  const tls = tlsProblem(caught, endpoint);
  if (tls !== undefined) return { reason: 'TLSError', message: message(tls) };
  const end = connectionEnd(caught, endpoint);
  if (end !== undefined)
    return { reason: end.inHandshake ? 'TLSError' : 'ProbeFailed', message: message(end.text) };
  const detail = caught instanceof Error ? caught.message : String(caught);
  return { reason: 'ProbeFailed', message: message(`${code || 'no connection'} (${detail.slice(0, 200)})`) };
}
