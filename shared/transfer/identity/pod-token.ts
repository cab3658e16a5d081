import { open } from 'node:fs/promises';
import { printable } from '#shared/base/errors';
import { isRecord } from '#shared/base/meta';
import { TransferError } from '../errors/transfer-error.ts';

/** The ServiceAccount token that the kubelet projects into a pod. */
export interface PodToken {
  token: string;
  /** The claimed subject, for messages: `system:serviceaccount:<namespace>:<name>`. */
  subject: string;
}

const maxBytes = 64 * 1024;

/** Reads the token file named by `variable`. It is read each time, because the kubelet renews it. Throws a config TransferError. */
export async function readPodToken(file: string, variable: string): Promise<PodToken> {
  const token = await readSmallFile(file, variable);
  if (!/^[\w.~+/=-]+$/.test(token))
    throw new TransferError('config', `The file "${file}" in ${variable} of the worker contains no token.`);
  return { token, subject: subjectOf(token) };
}

/** Reads a file of at most 64 KiB that an environment variable names. Throws a config TransferError. */
export async function readSmallFile(file: string, variable: string): Promise<string> {
  try {
    await using handle = await open(file);
    const { buffer, bytesRead } = await handle.read({ buffer: Buffer.alloc(maxBytes + 1) });
    if (bytesRead > maxBytes) throw new Error('it is larger than 64 KiB');
    return buffer.toString('utf8', 0, bytesRead).trim();
  } catch (caught) {
    const detail = caught instanceof Error ? caught.message : String(caught);
    throw new TransferError(
      'config',
      `The file in ${variable} of the worker cannot be read: ${detail}; check what is mounted into pods of the ServiceAccount.`,
      { cause: caught },
    );
  }
}

function subjectOf(token: string): string {
  const { sub } = claimsOf(token);
  // Not a JWT; the cloud will reject it.
  return typeof sub === 'string' ? printable(sub).slice(0, 200) : 'an unknown account';
}

/** The claims of a JWT, unverified; empty for anything else. */
export function claimsOf(token: string): Record<string, unknown> {
  return jsonOf(Buffer.from(token.split('.')[1] ?? '', 'base64url'));
}

/** Parses a JSON object; empty for anything else. */
export function jsonOf(bytes: Buffer): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'));
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}
