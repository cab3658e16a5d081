import os from 'node:os';
import type { ArtifactWorkflow, Endpoint, Job } from '#shared/domain';
import {
  type CopyOptions,
  compareArtifact,
  compareBatch,
  planFile,
  resolveAddress,
  TransferError,
} from '#shared/transfer';
import { batchOf } from '../../../functions/transfer-worker/batch/batch-of.ts';
import { openEnds } from '../../../functions/transfer-worker/ends/ends.ts';
import { isFileJob, openFileEnds } from '../../../functions/transfer-worker/ends/files.ts';
import { isFolderJob } from '../../../functions/transfer-worker/ends/folders.ts';
import { dockerCredentials } from '../../arc-transfer/docker-credentials.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** The bytes that a transfer would send, as far as servers report sizes. */
export type Bytes = { state: 'known'; toSend: number; total: number } | { state: 'unknown'; why: string };

const readTimeoutMs = 30_000;

/**
 * Queries source and destination for the bytes that a planned ArtifactWorkflow would send; writes nothing and reads no content. Uses the
 * user's credentials from docker login, because users cannot read the Secrets of Endpoints.
 */
export async function transferBytes(
  workflow: ArtifactWorkflow,
  endpoints: ReadonlyMap<string, Endpoint>,
  env: Env,
  outer: AbortSignal,
): Promise<Bytes> {
  const source = endpoints.get(workflow.spec.srcRef?.name ?? '');
  const destination = endpoints.get(workflow.spec.dstRef?.name ?? '');
  if (!source || !destination) return { state: 'unknown', why: 'an Endpoint does not exist' };
  const signal = AbortSignal.any([outer, AbortSignal.timeout(readTimeoutMs)]);
  try {
    const job: Job = {
      artifact: { type: workflow.spec.type ?? '', spec: workflow.spec.artifact?.spec ?? {} },
      source: await jobEnd(source, env),
      destination: await jobEnd(destination, env),
    };
    const options = { signal, workDir: os.tmpdir(), proxyEnv: env, retry: { attempts: 1 } };
    return await compareEnds(job, options);
  } catch (caught) {
    if (outer.aborted) throw caught;
    return { state: 'unknown', why: failureReason(caught) };
  }
}

/** Compares both ends of a job, like `moveJob`. Rejects with a TransferError. */
async function compareEnds(job: Job, options: CopyOptions): Promise<Bytes> {
  if ([job.source, job.destination].some(({ type }) => type === 'bundle'))
    return { state: 'unknown', why: 'the size of a bundle is only known after the export' };
  if (isFolderJob(job))
    return { state: 'unknown', why: 'the files of a folder are only known during the transfer' };
  if (isFileJob(job)) {
    const { size, there } = await planFile(options, (opening) => openFileEnds(job, opening));
    if (size === undefined) return { state: 'unknown', why: 'its server does not report the size' };
    return { state: 'known', toSend: there ? 0 : size, total: size };
  }
  const expand = batchOf(job);
  if (expand) {
    const { bytes, missing } = await compareBatch(options, expand);
    return { state: 'known', toSend: missing.bytes, total: bytes };
  }
  const { bytes, missing } = await compareArtifact(options, async (opening) => {
    const ends = await openEnds(job, opening);
    // Only registries report sizes without a download.
    if (!ends.source.registry) throw new TransferError('config', 'its source does not report sizes');
    return ends;
  });
  return { state: 'known', toSend: missing.bytes, total: bytes };
}

function failureReason(caught: unknown): string {
  const isShut = caught instanceof TransferError && ['auth', 'denied'].includes(caught.reason);
  // The original message is meant for the owner of the Endpoint.
  if (isShut) return 'a registry rejected your credentials: log in with docker login';
  return caught instanceof Error ? caught.message : String(caught);
}

async function jobEnd({ metadata, spec }: Endpoint, env: Env): Promise<Job['source']> {
  const { type, remoteURL, tls = {}, tokenHosts, redirectHosts } = spec;
  const { insecureSkipVerify, plainHTTP } = tls;
  const { host } = resolveAddress(remoteURL, 'any', plainHTTP === undefined ? {} : { plainHTTP });
  const credentials = await dockerCredentials(host, env);
  return {
    name: metadata.name,
    type,
    remoteURL,
    ...(credentials && { credentials }),
    ...(tokenHosts && { tokenHosts }),
    ...(redirectHosts && { redirectHosts }),
    tls: {
      ...(insecureSkipVerify !== undefined && { insecureSkipVerify }),
      ...(plainHTTP !== undefined && { plainHTTP }),
    },
  };
}
