import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { maskSecrets } from '#shared/base/errors';
import type { Job } from '#shared/domain';
import {
  BatchError,
  type BatchResult,
  type CopyResult,
  exitCodes,
  explainShortage,
  secretsOfEndpoint,
  TransferError,
} from '#shared/transfer';
import { attesting } from './attesting.ts';
import { bundleJob } from './bundle/bundle-job.ts';
import { readJob } from './job/job-file.ts';
import { appliedPolicies } from './job/policy.ts';
import { checkFolders } from './own-folders.ts';
import { progressFile } from './progress-file.ts';
import { intoQuarantine, outOfQuarantine } from './quarantine.ts';
import { type Outcome, report } from './report.ts';
import { moveJob } from './transfer-job.ts';

/** The process of the worker, as far as the worker uses it. */
export interface WorkerProcess {
  env: Readonly<Record<string, string | undefined>>;
  /** Aborted when the process must stop, with the name of the signal as its reason. */
  stop: AbortSignal;
  print: (line: string) => void;
  warn: (line: string) => void;
}

const unexpectedExitCode = 1;
/** As shells count SIGTERM: whoever started the worker tells a stop, such as a preemption, from a failure. */
const stoppedExitCode = 143;
const maxRetryAttempts = 20;
/** 64 GiB: more than any image in use, and the size of the template's volume. */
const defaultMaxBytes = 64 * 1024 ** 3;

/**
 * Runs the job in ARC_CONFIG_DIR and reports the outcome. Resolves with the exit code (0, or one per failure reason, see `exitCodes` of
 * shared/transfer). Never rejects, and prints no credentials.
 */
export async function runWorker(worker: WorkerProcess): Promise<number> {
  const { env, print, warn } = worker;
  const { exitCode, outcome } = await work(worker);
  if (env.ARC_STEP === 'quarantine') {
    // Argo reads only the result of the pod's last step, which reports this failure.
    await report(outcome, { resultFile: fetchedFile(env), terminationLog: undefined, print, warn });
    return 0;
  }
  const resultFile = env.ARC_RESULT_FILE ?? '/tmp/arc/result.json';
  await report(outcome, { resultFile, terminationLog: env.ARC_TERMINATION_LOG, print, warn });
  return exitCode;
}

async function work(worker: WorkerProcess): Promise<{ exitCode: number; outcome: Outcome }> {
  const secrets: string[] = [];
  let applied: ReturnType<typeof appliedPolicies> = {};
  try {
    const job = await readJob(configDir(worker.env));
    for (const { credentials, keys, tls } of [job.source, job.destination])
      secrets.push(
        ...secretsOfEndpoint(credentials),
        ...[keys?.sign, tls?.key].filter((key) => key !== undefined),
      );
    applied = appliedPolicies(job);
    return { exitCode: 0, outcome: { outcome: 'succeeded', ...(await transfer(job, worker)), ...applied } };
  } catch (failure) {
    const caught = explainShortage(failure);
    const known = caught instanceof TransferError;
    const detail = caught instanceof Error ? caught.message : String(caught);
    const message = known ? detail : `The worker failed unexpectedly: ${detail}`;
    const reason = known ? caught.reason : 'retryable';
    return {
      exitCode: worker.stop.aborted ? stoppedExitCode : known ? exitCodes[caught.reason] : unexpectedExitCode,
      outcome: {
        outcome: 'failed',
        reason,
        message: maskSecrets(message, secrets),
        ...applied,
        ...(caught instanceof BatchError ? { items: caught.items } : {}),
      },
    };
  }
}

async function transfer(
  job: Job,
  { env, stop, print, warn }: WorkerProcess,
): Promise<CopyResult | BatchResult> {
  const attempts = wholeNumber(env, 'ARC_RETRY_ATTEMPTS', maxRetryAttempts);
  const maxBytes = wholeNumber(env, 'ARC_MAX_BYTES', Number.MAX_SAFE_INTEGER) ?? defaultMaxBytes;
  const file = env.ARGO_PROGRESS_FILE;
  const progress =
    file === undefined ? undefined : progressFile({ file, now: () => performance.now(), warn });
  const options = {
    signal: transferSignal(stop),
    workDir: workDir(env),
    proxyEnv: env,
    identityEnv: env,
    retry: attempts === undefined ? {} : { attempts },
    maxBytes,
    verify: job.verify === true,
    unhashed: env.ARC_BLOB_DIGESTS === 'destination',
    onStep: print,
    trustedRoot: path.join(trustDir(env), 'trusted_root.json'),
    ...(env.ARC_WAITS_DIR === undefined ? {} : { waitsDir: env.ARC_WAITS_DIR }),
    ...(env.ARC_REPORTS_DIR === undefined ? {} : { reportsFolder: env.ARC_REPORTS_DIR }),
    ...(progress === undefined ? {} : { progress }),
    ...(await attesting(job, attestationDir(env))),
  };
  const bundleDir = env.ARC_BUNDLE_DIR ?? '/bundles';
  const quarantine = env.ARC_QUARANTINE_DIR ?? '/var/lib/arc/quarantine';
  await checkFolders(job, { bundleDir, private: [quarantine, ...ownFolders(env)] });
  const moveBundle = bundleJob(job);
  if (moveBundle) return moveBundle({ ...options, bundleDir });
  if (env.ARC_STEP === 'quarantine') return intoQuarantine(job, quarantine, options);
  if (env.ARC_STEP === 'promote') return outOfQuarantine(job, quarantine, await readFetched(env), options);
  return moveJob(job, options);
}

/** Folders of the process that no Endpoint may name. */
function ownFolders(env: WorkerProcess['env']): string[] {
  const { ARC_WAITS_DIR: waits, ARC_REPORTS_DIR: reports } = env;
  return [
    ...[configDir(env), workDir(env), trustDir(env), attestationDir(env), '/var/run/secrets', '/proc'],
    // The parent of the folders of all runs.
    ...(waits === undefined ? [] : [path.dirname(waits)]),
    ...(reports === undefined ? [] : [reports]),
  ];
}

const configDir = (env: WorkerProcess['env']) => env.ARC_CONFIG_DIR ?? '/etc/arc/config';
const workDir = (env: WorkerProcess['env']) => env.ARC_WORK_DIR ?? '/tmp/arc';
const trustDir = (env: WorkerProcess['env']) => env.ARC_TRUST_DIR ?? '/etc/arc/trust';
const attestationDir = (env: WorkerProcess['env']) => env.ARC_ATTESTATION_DIR ?? '/etc/arc/attestation';

/** The result of the first step for the last one; the scanner in between cannot write it. */
function fetchedFile(env: WorkerProcess['env']): string {
  return path.join(workDir(env), 'fetched.json');
}

async function readFetched(env: WorkerProcess['env']): Promise<unknown> {
  try {
    return JSON.parse(await readFile(fetchedFile(env), 'utf8'));
  } catch {
    // Missing or incomplete: the step was killed.
    return undefined;
  }
}

/** The whole number from 1 to `max` in a variable; undefined if it is not set. */
function wholeNumber(env: WorkerProcess['env'], name: string, max: number): number | undefined {
  const given = env[name];
  if (given === undefined || given === '') return undefined;
  const number = Number(given);
  if (Number.isInteger(number) && number >= 1 && number <= max) return number;
  throw new TransferError('config', `${name} must be a whole number from 1 to ${max}, not "${given}".`);
}

/** Aborted with `stop`, with an error that explains to users why the artifact failed. */
function transferSignal(stop: AbortSignal): AbortSignal {
  const controller = new AbortController();
  const abort = (): void => {
    const by = typeof stop.reason === 'string' ? ` by ${stop.reason}` : '';
    const message = `The worker was stopped${by} before the transfer was complete; it can safely run again.`;
    controller.abort(new TransferError('retryable', message, { again: false }));
  };
  if (stop.aborted) abort();
  else stop.addEventListener('abort', abort, { once: true });
  return controller.signal;
}
