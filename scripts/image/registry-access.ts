import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { ArcError } from '#shared/base/errors';
import { type ImageLocation, parseReference } from '#shared/transfer';

/**
 * Parses `[http://|https://]host[:port]/path[:tag][@digest]`. Without a scheme it is https, or http on loopback, as in other tools. Throws a
 * TransferError with the problem.
 */
export function locate(reference: string, dockerConfigJson: string | undefined): ImageLocation {
  const [, scheme, rest = ''] = /^(https?:\/\/)?(.*)$/s.exec(reference) ?? [];
  const { host } = parseReference(rest);
  const loopback = /^(?:localhost|127(?:\.\d+){3}|\[::1\])(?::\d+)?$/.test(host);
  return {
    name: host,
    remoteURL: `${scheme ?? (loopback ? 'http://' : 'https://')}${host}`,
    image: rest.slice(host.length + 1),
    ...(dockerConfigJson !== undefined && { credentials: { dockerConfigJson } }),
  };
}

/**
 * Reads the Docker config.json written by `docker login`, `crane auth login` and others; undefined if there is none. Credential stores
 * (`credsStore`) are not supported: `note` is called.
 */
export async function readDockerConfig(
  env: Readonly<Record<string, string | undefined>>,
  note: (text: string) => void,
): Promise<string | undefined> {
  const folder = env.DOCKER_CONFIG ?? path.join(env.HOME ?? os.homedir(), '.docker');
  const file = path.join(folder, 'config.json');
  if (!existsSync(file)) return undefined;
  const text = await readFile(file, 'utf8');
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    // The parser's message would quote credentials.
    throw new ArcError('Invalid', `${file} is not JSON: correct it, or set DOCKER_CONFIG to another folder`);
  }
  if (typeof parsed === 'object' && parsed !== null && 'auths' in parsed) return text;
  note(
    `${file} has no "auths" (credential helpers are not supported): registries are accessed without credentials`,
  );
  return undefined;
}
