import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Job } from '#shared/domain';
import { type CopyOptions, parsePrivateKey, TransferError } from '#shared/transfer';

const keyFile = 'key.pem';

/** Returns the attestation options of a job, with the signing key in `folder` if there is one. Rejects with a config TransferError for a bad key. */
export async function attesting(
  { attest, policy }: Job,
  folder: string,
): Promise<Pick<CopyOptions, 'attest'>> {
  if (attest !== true) return {};
  const file = path.join(folder, keyFile);
  const pem = await readIfThere(file);
  const key = pem === undefined ? undefined : parsePrivateKey(pem, file);
  return { attest: { ...(key && { key }), ...(policy !== undefined && { policy }) } };
}

async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (caught) {
    if (caught instanceof Error && 'code' in caught && caught.code === 'ENOENT') return undefined;
    const why = caught instanceof Error ? caught.message : String(caught);
    throw new TransferError('config', `Cannot read the key that signs attestations: ${why}.`, {
      cause: caught,
    });
  }
}
