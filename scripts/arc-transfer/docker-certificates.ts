import { readFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { JobEndpoint } from '#shared/domain';
import { TransferError } from '#shared/transfer';

type Tls = NonNullable<JobEndpoint['tls']>;

/** The files of a registry's folder in `certs.d`, as in docker. */
const files = { ca: 'ca.crt', certificate: 'client.cert', key: 'client.key' } as const;

/**
 * Returns the CA and client certificate of a registry in `certs.d/HOST[:PORT]`, as docker and podman do. The user's folder (beside docker's
 * config.json) takes precedence over those of the machine. Rejects with a config TransferError.
 */
export async function dockerCertificates(
  host: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Pick<Tls, keyof typeof files>> {
  const own = env.DOCKER_CONFIG ?? path.join(env.HOME ?? os.homedir(), '.docker');
  for (const folder of [own, '/etc/containers', '/etc/docker']) {
    const found = await filesOf(path.join(folder, 'certs.d', host));
    if (Object.keys(found).length > 0) return found;
  }
  return {};
}

async function filesOf(folder: string): Promise<Pick<Tls, keyof typeof files>> {
  const [ca, certificate, key] = await Promise.all([
    textOf(path.join(folder, files.ca)),
    textOf(path.join(folder, files.certificate)),
    textOf(path.join(folder, files.key)),
  ]);
  if ((certificate === undefined) !== (key === undefined))
    throw new TransferError(
      'config',
      `${folder} has only one of ${files.certificate} and ${files.key}: a client certificate needs both.`,
    );
  return {
    ...(ca !== undefined && { ca }),
    ...(certificate !== undefined && { certificate }),
    ...(key !== undefined && { key }),
  };
}

async function textOf(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (caught) {
    const { code, message } = caught as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw new TransferError('config', `Cannot read ${file}: ${message}.`);
  }
}
