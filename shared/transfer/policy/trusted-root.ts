import { open } from 'node:fs/promises';
import { bytesText } from '#shared/base/errors';
import { TransferError } from '../errors/transfer-error.ts';
import { digestOf } from '../reference/digest.ts';

/** The maximum size of a ConfigMap or Secret. The public Sigstore's has a few KiB. */
const maxBytes = 1024 * 1024;

/**
 * Reads the trust root for certificates. Its digest must be the one in the policy, because users may be able to replace the file, but not the
 * policy. Rejects with a config TransferError.
 */
export async function readTrustedRoot(file: string | undefined, digest: string | undefined): Promise<string> {
  if (file === undefined) throw unusable('no file is given');
  const content = await read(file);
  const found = digestOf(content);
  if (found !== digest)
    throw unusable(
      `${file} has digest ${found}, but requiredSigners.trustedRoot of the policy is ${digest ?? 'not set'}`,
    );
  return content.toString('utf8');
}

async function read(file: string): Promise<Buffer> {
  let why: string;
  let cause: unknown;
  try {
    await using handle = await open(file);
    const { size } = await handle.stat();
    if (size <= maxBytes) return await handle.readFile();
    why = `it has more than ${bytesText(maxBytes)}`;
  } catch (caught) {
    why = caught instanceof Error ? caught.message : String(caught);
    cause = caught;
  }
  throw unusable(`${file}: ${why}`, cause);
}

/** The advice names both sources: the Secret of the worker, and the option of arc-transfer. */
export function unusable(why: string, cause?: unknown): TransferError {
  return new TransferError(
    'config',
    `The policy requires keyless signatures, but its trust root cannot be used, so nothing is moved: ${why}. Store the trusted_root.json of the policy in the Secret "arc-trusted-root" of the namespace, or pass it with --trusted-root.`,
    { cause },
  );
}
