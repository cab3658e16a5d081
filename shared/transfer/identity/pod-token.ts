import { open } from 'node:fs/promises';
import { printable } from '#shared/base/errors';
import { isRecord } from '#shared/base/meta';
import { TransferError } from '../errors/transfer-error.ts';

/** The token of a ServiceAccount, as the kubelet projects it into a pod. */
export interface PodToken {
  token: string;
  /** Whose it says it is, for messages: `system:serviceaccount:<namespace>:<name>`. */
  subject: string;
}

const maxBytes = 64 * 1024;

/** Reads the file that `variable` names, each time anew: the kubelet renews it. Throws a config TransferError. */
export async function readPodToken(file: string, variable: string): Promise<PodToken> {
  const token = await readSmallFile(file, variable);
  if (!/^[\w.~+/=-]+$/.test(token))
    throw new TransferError(
      'config',
      `The file that ${variable} of the worker names, "${file}", holds no token.`,
    );
  return { token, subject: subjectOf(token) };
}

/** The text of a file of at most 64 KiB that a variable of the worker names. Throws a config TransferError. */
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
      `The file that ${variable} of the worker names cannot be read: ${detail}; check what the pods of the ServiceAccount get.`,
      { cause: caught },
    );
  }
}

function subjectOf(token: string): string {
  const { sub } = claimsOf(token);
  // Not a JWT: the cloud will say so.
  return typeof sub === 'string' ? printable(sub).slice(0, 200) : 'an unknown account';
}

/** What a JWT says of itself, unverified; nothing for what is none. */
export function claimsOf(token: string): Record<string, unknown> {
  return jsonOf(Buffer.from(token.split('.')[1] ?? '', 'base64url'));
}

/** The object that JSON holds; an empty one for anything else. */
export function jsonOf(bytes: Buffer): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'));
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}
