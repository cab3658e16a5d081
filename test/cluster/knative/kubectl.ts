import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { type HttpsClient, httpsClient } from '../../fixtures/http/https-client.ts';

/** kubectl against the cluster of KUBECONFIG; resolves with stdout, rejects with all of its output unless it exits with 0. */
export function kubectl(...args: string[]): Promise<string> {
  return run(args, '');
}

export async function apply(object: object): Promise<void> {
  await run(['apply', '-f', '-'], JSON.stringify(object));
}

async function run(args: readonly string[], input: string): Promise<string> {
  const running = promisify(execFile)('kubectl', args, { timeout: 300_000, maxBuffer: 512 * 1024 * 1024 });
  running.child.stdin?.end(input);
  const { stdout } = await running.catch((caught: unknown) => {
    const { code, stdout, stderr } = caught as { code: unknown; stdout: string; stderr: string };
    throw new Error(`kubectl ${args.join(' ')} ended with ${code}\n${stdout}${stderr}`);
  });
  return stdout.trimEnd();
}

/** The lines that kubectl prints, none for no output. */
export async function lines(...args: string[]): Promise<string[]> {
  const text = await kubectl(...args);
  return text === '' ? [] : text.split('\n');
}

/** What `-o jsonpath` selects. */
export function field(path: string, ...args: string[]): Promise<string> {
  return kubectl('get', ...args, '-o', `jsonpath=${path}`);
}

/** kube-apiserver as whom KUBECONFIG names, by its client certificate; over connections that are kept, as programs have them. */
export async function client(): Promise<HttpsClient> {
  const config = JSON.parse(
    await kubectl('config', 'view', '--minify', '--flatten', '--raw', '-o', 'json'),
  ) as {
    clusters: { cluster: { server: string; 'certificate-authority-data': string } }[];
    users: { user: { 'client-certificate-data': string; 'client-key-data': string } }[];
  };
  const [cluster] = config.clusters;
  const [user] = config.users;
  if (!cluster || !user) throw new Error('KUBECONFIG names no cluster, or nobody');
  const text = (base64: string) => Buffer.from(base64, 'base64').toString();
  return httpsClient(cluster.cluster.server, {
    ca: text(cluster.cluster['certificate-authority-data']),
    cert: text(user.user['client-certificate-data']),
    key: text(user.user['client-key-data']),
  });
}

/** Kinds whose objects come and go by themselves; a pod of ours that stays would keep its namespace. */
const volatile =
  /^(pods|events|leases|endpoints|endpointslices|componentstatuses|pods\.metrics|nodes\.metrics)\b/;

/** Every object of the cluster as `kind namespace name`, but for those that come and go by themselves. */
export async function everything(): Promise<string[]> {
  const kinds = (await lines('api-resources', '--verbs=list', '-o', 'name')).filter(
    (kind) => !volatile.test(kind),
  );
  const columns = 'custom-columns=KIND:.kind,NAMESPACE:.metadata.namespace,NAME:.metadata.name';
  const found = await lines('get', kinds.join(','), '-A', '--no-headers', '-o', columns);
  return found.map((line) => line.split(/\s+/).join(' ')).toSorted();
}

/**
 * Requests that kube-apiserver refused with 403 so far, by `verb resource`; without Events, which namespaces that end refuse, and tokens, which
 * kubelet requests again if the authorizer does not know yet where the pod runs.
 */
export async function refusals(): Promise<Map<string, number>> {
  const refused = new Map<string, number>();
  for (const line of await lines('get', '--raw', '/metrics')) {
    const [, labels = '', count = '0'] = /^apiserver_request_total\{(.*)\} (\S+)$/.exec(line) ?? [];
    if (!labels.includes('code="403"')) continue;
    const [, resource = ''] = /resource="([^"]*)"/.exec(labels) ?? [];
    const [, verb = ''] = /verb="([^"]*)"/.exec(labels) ?? [];
    if (resource === 'events' || labels.includes('subresource="token"')) continue;
    const key = `${verb} ${resource}`;
    refused.set(key, (refused.get(key) ?? 0) + Number(count));
  }
  return refused;
}
