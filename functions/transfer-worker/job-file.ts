import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Job, JobCredentials, JobEndpoint } from '#shared/domain';
import { isRecord } from '#shared/meta';
import { TransferError } from '#shared/transfer';

type Fields = Record<string, unknown>;

function bad(field: string, shape: string): TransferError {
  return new TransferError(
    'config',
    `The job cannot be read: ${field} must be ${shape}. It is written by render-secret; delete the ArtifactWorkflow's Secret to have it rendered anew.`,
  );
}

function fields(value: unknown, field: string): Fields {
  if (isRecord(value)) return value;
  throw bad(field, 'an object');
}

function text(value: unknown, field: string): string {
  if (typeof value === 'string') return value;
  throw bad(field, 'a string');
}

function flag(value: unknown, field: string): boolean {
  if (typeof value === 'boolean') return value;
  throw bad(field, 'true or false');
}

function parseTls(value: unknown, field: string): NonNullable<JobEndpoint['tls']> {
  const { ca, insecureSkipVerify, plainHTTP } = fields(value, field);
  return {
    ...(ca === undefined ? {} : { ca: text(ca, `${field}.ca`) }),
    ...(insecureSkipVerify === undefined
      ? {}
      : { insecureSkipVerify: flag(insecureSkipVerify, `${field}.insecureSkipVerify`) }),
    ...(plainHTTP === undefined ? {} : { plainHTTP: flag(plainHTTP, `${field}.plainHTTP`) }),
  };
}

function parseCredentials(value: unknown, field: string): JobCredentials {
  const given = fields(value, field);
  if (given.dockerConfigJson !== undefined)
    return { dockerConfigJson: text(given.dockerConfigJson, `${field}.dockerConfigJson`) };
  if (given.token !== undefined) return { token: text(given.token, `${field}.token`) };
  return {
    username: text(given.username, `${field}.username`),
    password: text(given.password, `${field}.password`),
  };
}

function parseEndpoint(value: unknown, field: string): JobEndpoint {
  const { name, type, remoteURL, tls, credentials } = fields(value, field);
  return {
    name: text(name, `${field}.name`),
    type: text(type, `${field}.type`),
    remoteURL: text(remoteURL, `${field}.remoteURL`),
    ...(tls === undefined ? {} : { tls: parseTls(tls, `${field}.tls`) }),
    ...(credentials === undefined
      ? {}
      : { credentials: parseCredentials(credentials, `${field}.credentials`) }),
  };
}

/**
 * Reads a `Job` (shared/domain). Checked by hand, as loading a schema library would take longer than copying a small
 * image; the schema and this are held together by a test. Throws a config TransferError naming the field.
 */
export function parseJob(json: string): Job {
  let parsed: unknown;
  try {
    parsed = JSON.parse(json);
  } catch {
    // The parser's message quotes what it read, and that holds credentials.
    throw bad('job.json', 'JSON');
  }
  const job = fields(parsed, 'job.json');
  const artifact = fields(job.artifact, 'artifact');
  const name = artifact.name;
  return {
    artifact: {
      type: text(artifact.type, 'artifact.type'),
      ...(name === undefined ? {} : { name: text(name, 'artifact.name') }),
      spec: fields(artifact.spec, 'artifact.spec'),
    },
    source: parseEndpoint(job.source, 'source'),
    destination: parseEndpoint(job.destination, 'destination'),
  };
}

/** The job in `<folder>/job.json`. Rejects with a config TransferError. */
export async function readJob(folder: string): Promise<Job> {
  const file = path.join(folder, 'job.json');
  try {
    return parseJob(await readFile(file, 'utf8'));
  } catch (caught) {
    if (caught instanceof TransferError) throw caught;
    const detail = caught instanceof Error ? caught.message : String(caught);
    throw new TransferError(
      'config',
      `There is no job to do: ${detail}. The Secret named by the parameter configSecretName must be mounted at ${folder} (ARC_CONFIG_DIR).`,
      { cause: caught },
    );
  }
}
