import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import * as z from 'zod';
import { type EndpointCredentials, TransferError } from '#shared/transfer';

const configShape = z.object({
  auths: z.record(z.string(), z.unknown()).optional(),
  credsStore: z.string().optional(),
  credHelpers: z.record(z.string(), z.string()).optional(),
});
const helperAnswer = z.object({ Username: z.string(), Secret: z.string() });

const helperForm = /^[A-Za-z0-9._-]{1,64}$/;
const helperLimitMs = 30_000;
const helperLimitBytes = 64 * 1024;
/** The name that docker itself has for Docker Hub in its configuration. */
const hubKey = 'https://index.docker.io/v1/';

/**
 * The credentials for a registry that `docker login`, `crane auth login` and others have left: from the credential helper that
 * `config.json` names, else from the file itself. Undefined without any. Rejects with a config TransferError that quotes no secret.
 */
export async function dockerCredentials(
  host: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<EndpointCredentials | undefined> {
  const file = path.join(env.DOCKER_CONFIG ?? path.join(env.HOME ?? os.homedir(), '.docker'), 'config.json');
  const text = await readFile(file, 'utf8').catch((caught: NodeJS.ErrnoException) => {
    if (caught.code === 'ENOENT') return undefined;
    throw new TransferError('config', `Cannot read ${file}: ${caught.message}.`);
  });
  if (text === undefined) return undefined;
  const config = configShape.safeParse(parsed(text));
  if (!config.success)
    throw new TransferError(
      'config',
      `${file} is not a docker configuration: correct it, or set DOCKER_CONFIG to another folder.`,
    );
  const { auths, credsStore, credHelpers } = config.data;
  const key = /^(?:index\.|registry-1\.)?docker\.io$/.test(host) ? hubKey : host;
  const helper = credHelpers?.[host] ?? credHelpers?.[key] ?? credsStore;
  const asked = helper === undefined ? undefined : await askHelper(helper, key, env);
  if (asked !== undefined) return asked;
  return auths === undefined ? undefined : { dockerConfigJson: text };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's message would quote a credential; the caller says what is wrong.
    return undefined;
  }
}

/** Runs `docker-credential-<helper> get` (docker/docker-credential-helpers). Undefined: it has none for this registry. */
async function askHelper(
  helper: string,
  key: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<EndpointCredentials | undefined> {
  if (!helperForm.test(helper))
    throw new TransferError(
      'config',
      'The docker configuration names a credential helper whose name is not a word.',
    );
  const program = `docker-credential-${helper}`;
  const { promise, resolve, reject } = Promise.withResolvers<string | undefined>();
  const options = { env, timeout: helperLimitMs, maxBuffer: helperLimitBytes };
  const child = execFile(program, ['get'], options, (error, stdout) => {
    if (!error) return resolve(stdout);
    // All helpers say it on stdout, in these words.
    if (stdout.includes('credentials not found')) return resolve(undefined);
    const why = error.code === 'ENOENT' ? 'it is not in PATH' : `it failed (${error.code ?? error.signal})`;
    reject(
      new TransferError(
        'config',
        `The credential helper ${program} of the docker configuration cannot be used for ${key}: ${why}.`,
      ),
    );
  });
  // A helper that does not read breaks the pipe: its exit tells more.
  child.stdin?.on('error', () => undefined).end(key);
  const answer = helperAnswer.safeParse(parsed((await promise) ?? ''));
  if (!answer.success) return undefined;
  const { Username: username, Secret: password } = answer.data;
  if (username !== '<token>') return { username, password };
  return { dockerConfigJson: JSON.stringify({ auths: { [key]: { identitytoken: password } } }) };
}
