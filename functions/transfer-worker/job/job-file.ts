import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { ArcError } from '#shared/base/errors';
import { type Job, jobKey, parseJob } from '#shared/domain';
import { TransferError } from '#shared/transfer';

/** Reads the Job in `<folder>/job.json`. Rejects with a config TransferError. */
export async function readJob(folder: string): Promise<Job> {
  let json: string;
  try {
    json = await readFile(path.join(folder, jobKey), 'utf8');
  } catch (caught) {
    const detail = caught instanceof Error ? caught.message : String(caught);
    throw new TransferError(
      'config',
      `Cannot read the job: ${detail}. The Secret named by the parameter configSecretName must be mounted at ${folder} (ARC_CONFIG_DIR).`,
      { cause: caught },
    );
  }
  try {
    return parseJob(json);
  } catch (caught) {
    throw new TransferError('config', ArcError.from(caught).message);
  }
}
