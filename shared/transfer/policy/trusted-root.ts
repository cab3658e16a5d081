import { open } from 'node:fs/promises';
import { bytesText } from '#shared/base/errors';
import { TransferError } from '../errors/transfer-error.ts';
import { digestOf } from '../reference/digest.ts';

/** A ConfigMap or Secret is no larger. That of the public Sigstore has some KiB. */
const maxBytes = 1024 * 1024;

/**
 * Reads the trust root by which certificates are judged. It has to be the one that the policy names: the file may lie where users can write, the policy does
 * not. Rejects with a config TransferError.
 */
export async function readTrustedRoot(file: string | undefined, digest: string | undefined): Promise<string> {
  if (file === undefined) throw unusable('no file is given');
  const content = await read(file);
  const found = digestOf(content);
  if (found !== digest)
    throw unusable(
      `${file} is ${found}, and the policy names ${digest ?? 'none'} as requiredSigners.trustedRoot`,
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

/** The worker has it from the Secret, arc-transfer from its option. */
export function unusable(why: string, cause?: unknown): TransferError {
  return new TransferError(
    'config',
    `The policy asks for keyless signatures, and its trust root cannot be used, so nothing is moved: ${why}. Put the trusted_root.json that the policy names into the Secret "arc-trusted-root" of the namespace, or give it as --trusted-root.`,
    { cause },
  );
}
