import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
// js-yaml instead of `yaml`: it loads and parses a kubeconfig three times as fast, and client-node depends on it anyway.
import { load } from 'js-yaml';
import { isRecord } from '#shared/base/meta';
import { withoutAuthProvider } from './auth-provider.ts';

/**
 * The source of a context: kubeconfig files, with `context` instead of the current context, or an address with its token and authority.
 */
export type ContextSource = { impersonation?: Impersonation | undefined } & (
  | { kubeconfig: readonly string[]; context?: string | undefined }
  | { server: string; tokenFile: string; caFile?: string | undefined }
);

/** The impersonated user, as in `kubectl --as`; replaces the impersonation of the kubeconfig. */
export interface Impersonation {
  user: string;
  groups?: readonly string[];
  uid?: string;
}

export interface LoadedContext {
  server: string;
  config: KubeConfig;
  /** The namespace in the context. */
  namespace?: string;
  impersonation?: Impersonation;
  /** Describes user, context and files in messages. */
  description: string;
}

type Fields = Record<string, unknown>;
interface Entry {
  name: string;
  fields: Fields;
}

/** Loads the selected context of `source`. Rejects with an Error that describes the problem and its solution. */
export async function loadContext(source: ContextSource): Promise<LoadedContext> {
  if ('server' in source) {
    const cluster = {
      server: source.server,
      'insecure-skip-tls-verify': source.server.startsWith('http:'),
      ...(source.caFile !== undefined && { 'certificate-authority': source.caFile }),
    };
    const user = { tokenFile: source.tokenFile };
    const namespace = await namespaceBeside(source.tokenFile);
    const context = loaded({ cluster, user, description: 'the account of this process', source });
    return { ...context, ...(namespace !== undefined && { namespace }) };
  }
  const files = source.kubeconfig;
  const where = `kubeconfig ${files.join(', ')}`;
  const merged = await readMerged(files, where);
  const name = source.context ?? merged.currentContext;
  const context = merged.contexts.find((each) => each.name === name);
  if (context === undefined) {
    const known = merged.contexts.map((each) => each.name).join(', ') || 'none';
    const what =
      name === undefined ? 'no context is selected' : `there is no context ${JSON.stringify(name)}`;
    throw new Error(`${where}: ${what}: run "kubectl config use-context NAME" (contexts: ${known})`);
  }
  const find = (list: readonly Entry[], kind: string): Fields => {
    const wanted = context.fields[kind];
    const found = list.find((each) => each.name === wanted)?.fields;
    if (found === undefined)
      throw new Error(
        `${where}: context ${name} refers to the ${kind} ${JSON.stringify(wanted)}, which does not exist`,
      );
    return found;
  };
  const cluster = find(merged.clusters, 'cluster');
  const user = context.fields.user ? find(merged.users, 'user') : {};
  const who = context.fields.user ? `user ${context.fields.user}` : 'anonymous';
  if (typeof cluster.server !== 'string')
    throw new Error(`${where}: the cluster of context ${name} has no server`);
  const namespace = nonEmpty(context.fields.namespace);
  const description = `${who} of context ${name}, ${where}`;
  return { ...loaded({ cluster, user, description, source }), ...(namespace !== undefined && { namespace }) };
}

/** Reads the namespace from the file next to the token of a pod. */
async function namespaceBeside(tokenFile: string): Promise<string | undefined> {
  const file = path.join(path.dirname(tokenFile), 'namespace');
  return nonEmpty((await readFile(file, 'utf8').catch(() => '')).trim());
}

interface Parts {
  cluster: Fields;
  user: Fields;
  description: string;
  source: ContextSource;
}

/** Creates a KubeConfig with a single cluster, user and context. */
function loaded({ cluster, user: given, description, source }: Parts): LoadedContext {
  // Impersonation is handled by the signer: client-node ignores groups.
  const { as, 'as-groups': groups, 'as-uid': uid, ...rest } = given;
  const user = userOf(withoutAuthProvider(rest, description), cluster);
  const impersonation = source.impersonation ?? impersonationOf(as, groups, uid);
  const server = String(cluster.server);
  const skips = server.startsWith('http:') || cluster['insecure-skip-tls-verify'] === true;
  const config = new KubeConfig();
  config.loadFromString(
    JSON.stringify({
      clusters: [{ name: 'it', cluster: { ...cluster, 'insecure-skip-tls-verify': skips } }],
      users: [{ name: 'it', user }],
      contexts: [{ name: 'it', context: { cluster: 'it', user: 'it' } }],
      'current-context': 'it',
    }),
  );
  return { server, config, description, ...(impersonation && { impersonation }) };
}

function impersonationOf(as: unknown, groups: unknown, uid: unknown): Impersonation | undefined {
  const user = nonEmpty(as);
  if (user === undefined) return undefined;
  const id = nonEmpty(uid);
  return {
    user,
    ...(Array.isArray(groups) && { groups: groups.filter((group) => typeof group === 'string') }),
    ...(id !== undefined && { uid: id }),
  };
}

/** Converts a user so that client-node behaves like client-go. */
function userOf({ tokenFile, ...user }: Fields, cluster: Fields): Fields {
  // client-node supports token files as an auth provider. A token file takes precedence over a token.
  if (typeof tokenFile === 'string') {
    const { token: _, ...rest } = user;
    return { ...rest, 'auth-provider': { name: 'tokenFile', config: { tokenFile } } };
  }
  if (!isRecord(user.exec)) return user;
  const { apiVersion, env, provideClusterInfo } = user.exec;
  const info = {
    apiVersion,
    kind: 'ExecCredential',
    spec: { interactive: false, ...(provideClusterInfo === true && { cluster }) },
  };
  const variables = Array.isArray(env) ? env : [];
  return {
    ...user,
    exec: {
      ...user.exec,
      env: [...variables, { name: 'KUBERNETES_EXEC_INFO', value: JSON.stringify(info) }],
    },
  };
}

interface Merged {
  clusters: Entry[];
  users: Entry[];
  contexts: Entry[];
  currentContext: string | undefined;
}

/** Merges like kubectl: missing files are skipped, and the first file that defines a name wins. */
async function readMerged(files: readonly string[], where: string): Promise<Merged> {
  const merged: Merged = { clusters: [], users: [], contexts: [], currentContext: undefined };
  let read = 0;
  for (const file of files) {
    const text = await readFile(file, 'utf8').catch((caught: NodeJS.ErrnoException) => {
      if (caught.code === 'ENOENT') return undefined;
      throw new Error(`kubeconfig ${file} cannot be read: ${caught.message}`);
    });
    if (text === undefined) continue;
    read += 1;
    const document = parsed(text, file);
    const folder = path.dirname(path.resolve(file));
    merged.currentContext ??= nonEmpty(document['current-context']);
    add(merged.clusters, document.clusters, (fields) => absolute(fields, folder), 'cluster');
    add(merged.users, document.users, (fields) => absolute(fields, folder), 'user');
    add(merged.contexts, document.contexts, (fields) => fields, 'context');
  }
  if (read === 0) throw new Error(`${where}: there is no such file: set KUBECONFIG to one that exists`);
  return merged;
}

function parsed(text: string, file: string): Fields {
  let document: unknown;
  try {
    document = isEmpty(text) ? {} : load(text);
  } catch (caught) {
    const [reason = ''] = String(caught instanceof Error ? caught.message : caught).split('\n', 1);
    throw new Error(`kubeconfig ${file} is not valid YAML: ${reason}`);
  }
  if (!isRecord(document)) throw new Error(`kubeconfig ${file} is not a kubeconfig`);
  return document;
}

/** Tells whether a file is an empty kubeconfig, as in kubectl. */
function isEmpty(text: string): boolean {
  return text.split('\n').every((line) => /^\s*(?:#|$)/.test(line));
}

function add(entries: Entry[], list: unknown, change: (fields: Fields) => Fields, kind: string): void {
  for (const each of Array.isArray(list) ? list : []) {
    if (!isRecord(each) || typeof each.name !== 'string') continue;
    if (entries.some(({ name }) => name === each.name)) continue;
    const fields = each[kind];
    entries.push({ name: each.name, fields: change(isRecord(fields) ? fields : {}) });
  }
}

const pathFields = ['certificate-authority', 'client-certificate', 'client-key', 'tokenFile'];

/** Resolves paths relative to the folder of the kubeconfig, including the command of a plugin if it contains a slash. */
function absolute(fields: Fields, folder: string): Fields {
  const result = { ...fields };
  for (const name of pathFields) {
    const value = nonEmpty(result[name]);
    if (value !== undefined) result[name] = path.resolve(folder, value);
  }
  if (isRecord(result.exec)) {
    const command = nonEmpty(result.exec.command);
    if (command?.includes('/')) result.exec = { ...result.exec, command: path.resolve(folder, command) };
  }
  return result;
}

function nonEmpty(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
