import type { Job, JobEndpoint } from '#shared/domain';
import {
  copyImage,
  exitCodes,
  type ImageLocation,
  maskSecrets,
  secretsOfEndpoint,
  TransferError,
} from '#shared/transfer';
import { imagesOf } from './images.ts';
import { readJob } from './job-file.ts';
import { progressFile } from './progress-file.ts';
import { type Outcome, report } from './report.ts';

/** What the worker needs of the process it runs in. */
export interface WorkerSurroundings {
  env: Readonly<Record<string, string | undefined>>;
  /** Aborted when the process is told to end; its reason is the name of the signal. */
  stop: AbortSignal;
  print: (line: string) => void;
  warn: (line: string) => void;
}

const unexpectedExit = 1;

/**
 * Does the job in ARC_CONFIG_DIR and reports how it went; resolves with the exit code (0, or one per reason, see
 * `exitCodes` of shared/transfer). Never rejects, and prints no credential.
 */
export async function runWorker(surroundings: WorkerSurroundings): Promise<number> {
  const { env, stop, print, warn } = surroundings;
  const work = env.ARC_WORK_DIR ?? '/tmp/arc';
  const resultFile = env.ARC_RESULT_FILE ?? '/tmp/arc/result.json';
  const secrets: string[] = [];
  let exit = 0;
  let outcome: Outcome;
  try {
    const job = await readJob(env.ARC_CONFIG_DIR ?? '/etc/arc/config');
    secrets.push(
      ...secretsOfEndpoint(job.source.credentials),
      ...secretsOfEndpoint(job.destination.credentials),
    );
    outcome = { outcome: 'succeeded', ...(await transfer(job, work, surroundings)) };
  } catch (caught) {
    const known = caught instanceof TransferError;
    exit = known ? exitCodes[caught.reason] : unexpectedExit;
    const detail = caught instanceof Error ? caught.message : String(caught);
    const message = known ? detail : `The worker failed unexpectedly: ${detail}`;
    outcome = {
      outcome: 'failed',
      reason: known ? caught.reason : 'retryable',
      message: maskSecrets(message, secrets),
    };
  }
  await report(outcome, { resultFile, terminationLog: env.ARC_TERMINATION_LOG, print, warn });
  return exit;

  async function transfer(
    job: Job,
    workDir: string,
    { env }: WorkerSurroundings,
  ): ReturnType<typeof copyImage> {
    const images = imagesOf(job);
    const file = env.ARGO_PROGRESS_FILE;
    const progress =
      file === undefined ? {} : { progress: progressFile({ file, now: () => performance.now(), warn }) };
    return copyImage({
      source: location(job.source, images.source),
      destination: location(job.destination, images.destination),
      signal: toldToStop(stop),
      workDir,
      proxyEnv: env,
      retry: retryOf(env),
      ...progress,
    });
  }
}

function location({ name, remoteURL, tls, credentials }: JobEndpoint, image: string): ImageLocation {
  return {
    name,
    remoteURL,
    image,
    ...(tls === undefined ? {} : { tls }),
    ...(credentials === undefined ? {} : { credentials }),
  };
}

const mostAttempts = 20;

function retryOf(env: WorkerSurroundings['env']): { attempts?: number } {
  const given = env.ARC_RETRY_ATTEMPTS;
  if (given === undefined || given === '') return {};
  const attempts = Number(given);
  if (Number.isInteger(attempts) && attempts >= 1 && attempts <= mostAttempts) return { attempts };
  throw new TransferError(
    'config',
    `ARC_RETRY_ATTEMPTS must be a whole number from 1 to ${mostAttempts}, not "${given}".`,
  );
}

/** The abort in the words of somebody who reads why the artifact failed. */
function toldToStop(stop: AbortSignal): AbortSignal {
  const controller = new AbortController();
  const abort = (): void => {
    const by = typeof stop.reason === 'string' ? ` (${stop.reason})` : '';
    const message = `The worker was told to stop${by} before the transfer was complete; it can be started again safely.`;
    controller.abort(new TransferError('retryable', message, { again: false }));
  };
  if (stop.aborted) abort();
  else stop.addEventListener('abort', abort, { once: true });
  return controller.signal;
}
