import { execFile } from 'node:child_process';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import * as z from 'zod';
import { type EndpointCredentials, matchesGlob, TransferError } from '#shared/transfer';

const configShape = z.object({
  auths: z.record(z.string(), z.unknown()).optional(),
  credsStore: z.string().optional(),
  credHelpers: z.record(z.string(), z.string()).optional(),
});
const helperAnswer = z.object({ Username: z.string(), Secret: z.string() });

const helperForm = /^[A-Za-z0-9._-]{1,64}$/;
const helperLimitMs = 30_000;
const helperLimitBytes = 64 * 1024;
/** docker's key for Docker Hub. */
const hubKey = 'https://index.docker.io/v1/';
/** The user name in a helper's response that contains an identity token. */
const tokenUser = '<token>';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Returns the credentials for a registry stored by `docker login`, `crane auth login` and others: from the credential helper in `config.json`,
 * else from the file itself. Undefined if there are none. Rejects with a config TransferError that quotes no secret.
 */
export async function dockerCredentials(
  host: string,
  env: Environment,
): Promise<EndpointCredentials | undefined> {
  const config = await readConfig(env);
  if (config === undefined) return undefined;
  const { auths, text } = config;
  const helper = helperFor(host, config);
  const asked = helper === undefined ? undefined : await askHelper(helper, keyOf(host), env);
  if (asked !== undefined) {
    const { username, password } = asked;
    return username === tokenUser
      ? { dockerConfigJson: JSON.stringify(configOf([asked])) }
      : { username, password };
  }
  return auths === undefined ? undefined : { dockerConfigJson: text };
}

/**
 * Returns the logins for several registries as one docker configuration: the entries of the file, and those of credential helpers for `hosts`,
 * where `*` matches any characters. Undefined if there are none.
 */
export async function dockerLogins(
  hosts: readonly string[],
  env: Environment,
): Promise<EndpointCredentials | undefined> {
  const config = await readConfig(env);
  if (config === undefined) return undefined;
  const { auths = {}, credHelpers = {}, credsStore } = config;
  const stored = credsStore && hosts.some(isPattern) ? await listOf(credsStore, env) : [];
  const known = [...Object.keys(credHelpers), ...stored].map(hostOf);
  const wanted = new Set(
    hosts.flatMap((host) => (isPattern(host) ? known.filter((each) => matchesGlob(host, each)) : [host])),
  );
  const asked = await Promise.all(
    [...wanted].map(async (host) => {
      const helper = helperFor(host, config);
      return helper === undefined ? undefined : askHelper(helper, keyOf(host), env);
    }),
  );
  const all = { ...auths, ...configOf(asked.filter((each) => each !== undefined)).auths };
  return Object.keys(all).length === 0 ? undefined : { dockerConfigJson: JSON.stringify({ auths: all }) };
}

type Config = z.infer<typeof configShape> & { text: string };

/**
 * Stores a login where docker does: in the registry's credential helper, else in `config.json`. Resolves with the name of that place. Rejects
 * with a config TransferError that quotes no secret.
 */
export async function storeLogin(
  { host, username, password }: { host: string; username: string; password: string },
  env: Environment,
): Promise<string> {
  const config = await readConfig(env);
  const helper = config && helperFor(host, config);
  const key = keyOf(host);
  if (helper !== undefined) {
    await runHelper(
      helper,
      'store',
      JSON.stringify({ ServerURL: key, Username: username, Secret: password }),
      env,
    );
    return `docker-credential-${helper}`;
  }
  const file = configFile(env);
  const whole = config === undefined ? {} : (parsed(config.text) as Record<string, unknown>);
  const auth = Buffer.from(`${username}:${password}`).toString('base64');
  const text = JSON.stringify({ ...whole, auths: { ...config?.auths, [key]: { auth } } }, null, '\t');
  try {
    await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
    // Renamed into place, because another program may read it meanwhile.
    await writeFile(`${file}.${process.pid}`, text, { mode: 0o600 });
    await rename(`${file}.${process.pid}`, file);
  } catch (caught) {
    throw new TransferError('config', `Cannot write ${file}: ${(caught as Error).message}.`);
  }
  return file;
}

function configFile(env: Environment): string {
  return path.join(env.DOCKER_CONFIG ?? path.join(env.HOME ?? os.homedir(), '.docker'), 'config.json');
}

async function readConfig(env: Environment): Promise<Config | undefined> {
  const file = configFile(env);
  const text = await readFile(file, 'utf8').catch((caught: NodeJS.ErrnoException) => {
    if (caught.code === 'ENOENT') return undefined;
    throw new TransferError('config', `Cannot read ${file}: ${caught.message}.`);
  });
  if (text === undefined) return undefined;
  const config = configShape.safeParse(parsed(text));
  if (config.success) return { ...config.data, text };
  throw new TransferError(
    'config',
    `${file} is not a docker configuration: correct it, or set DOCKER_CONFIG to another folder.`,
  );
}

function helperFor(host: string, { credHelpers, credsStore }: Config): string | undefined {
  return credHelpers?.[host] ?? credHelpers?.[keyOf(host)] ?? credsStore;
}

function keyOf(host: string): string {
  return /^(?:index\.|registry-1\.)?docker\.io$/.test(host) ? hubKey : host;
}

/** The registry of a key: some helpers list keys with scheme and path. */
function hostOf(key: string): string {
  return key === hubKey ? 'docker.io' : key.replace(/^https?:\/\//, '').replace(/\/.*$/, '');
}

function isPattern(host: string): boolean {
  return host.includes('*');
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's message would quote credentials; the caller reports the failure.
    return undefined;
  }
}

interface Login {
  key: string;
  username: string;
  password: string;
}

/** The logins in docker's file format. Helpers mark an identity token by the user name. */
function configOf(logins: readonly Login[]): { auths: Record<string, object> } {
  const entries = logins.map(({ key, username, password }) => [
    key,
    username === tokenUser ? { identitytoken: password } : { username, password },
  ]);
  return { auths: Object.fromEntries(entries) };
}

/** Returns a helper's login for a registry; undefined if it has none. */
async function askHelper(helper: string, key: string, env: Environment): Promise<Login | undefined> {
  const answer = helperAnswer.safeParse(parsed((await runHelper(helper, 'get', key, env)) ?? ''));
  if (!answer.success) return undefined;
  return { key, username: answer.data.Username, password: answer.data.Secret };
}

/** Returns the keys of all registries that a helper has logins for. */
async function listOf(helper: string, env: Environment): Promise<string[]> {
  const answer = z
    .record(z.string(), z.string())
    .safeParse(parsed((await runHelper(helper, 'list', '', env)) ?? ''));
  return answer.success ? Object.keys(answer.data) : [];
}

/** Runs `docker-credential-<helper> VERB` (docker/docker-credential-helpers). Undefined if it has no entry for this registry. */
async function runHelper(
  helper: string,
  verb: 'get' | 'list' | 'store',
  input: string,
  env: Environment,
): Promise<string | undefined> {
  if (!helperForm.test(helper))
    throw new TransferError(
      'config',
      'The docker configuration names a credential helper with an invalid name.',
    );
  const program = `docker-credential-${helper}`;
  const { promise, resolve, reject } = Promise.withResolvers<string | undefined>();
  const options = { env, timeout: helperLimitMs, maxBuffer: helperLimitBytes };
  const child = execFile(program, [verb], options, (error, stdout) => {
    if (!error) return resolve(stdout);
    // All helpers print these words to stdout.
    if (stdout.includes('credentials not found')) return resolve(undefined);
    const why = error.code === 'ENOENT' ? 'it is not in PATH' : `it failed (${error.code ?? error.signal})`;
    const where = verb === 'get' ? ` for ${input}` : '';
    reject(
      new TransferError(
        'config',
        `The credential helper ${program} of the docker configuration cannot be used${where}: ${why}.`,
      ),
    );
  });
  // A helper that does not read its input breaks the pipe; its exit code is more informative.
  child.stdin?.on('error', () => undefined).end(input);
  return promise;
}
