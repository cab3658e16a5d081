import { once } from 'node:events';
import { chmod, mkdir, readFile, rename } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import net, { type AddressInfo } from 'node:net';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { stringify } from 'yaml';
import { createAuthority } from '../../base/testing/authority.ts';
import { functionAccess, programAccess } from './access.ts';
import { createKubeClient } from './create-client.ts';
import {
  clientOf,
  type Kubeconfig,
  namespaces,
  type SignInServer,
  startSignInServer,
} from './testing/sign-in-server.ts';

let api: SignInServer;

beforeAll(async () => {
  api = await startSignInServer();
});
afterAll(() => api.close());
beforeEach(() => api.clear());
afterEach(() => {
  vi.useRealTimers();
});

/** A credential plugin in shell: `body` may use `$count`, how many times it has run. */
async function plugin(body: string): Promise<string> {
  const script = `#!/bin/sh\necho run >> ${api.file('runs')}\ncount=$(wc -l < ${api.file('runs')} | tr -d ' ')\n${body}\n`;
  await api.put('plugin.sh', script);
  await chmod(api.file('plugin.sh'), 0o755);
  return './plugin.sh';
}

const runs = async () => (await readFile(api.file('runs'), 'utf8')).split('\n').length - 1;
const credential = (fields: string) =>
  `echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{${fields}}}'`;
const exec = (command: string, more = {}) => ({
  exec: { apiVersion: 'client.authentication.k8s.io/v1', command, interactiveMode: 'Never', ...more },
});

describe('a kubeconfig', () => {
  it('signs in with a client certificate from files beside it', async () => {
    const { cert, key } = await api.authority.issue({ name: 'jo' }, { use: 'client' });
    await api.put('jo.crt', cert);
    await api.put('jo.key', key);
    const user = { 'client-certificate': 'jo.crt', 'client-key': 'jo.key' };
    expect(await api.seenBy({ user })).toMatchObject({ certificate: 'jo', authorization: undefined });
  });

  it('authenticates with a client certificate, a token, a password, and by impersonation', async () => {
    const { cert, key } = await api.authority.issue({ name: 'kim' }, { use: 'client' });
    const base64 = (text: string) => Buffer.from(text).toString('base64');
    const data = { 'client-certificate-data': base64(cert), 'client-key-data': base64(key) };
    expect(await api.seenBy({ user: data })).toMatchObject({ certificate: 'kim' });
    expect(await api.seenBy({ user: { token: 'abc', as: 'ann' } })).toMatchObject({
      authorization: 'Bearer abc',
      impersonated: 'ann',
    });
    const basic = `Basic ${base64('jo:secret')}`;
    expect(await api.seenBy({ user: { username: 'jo', password: 'secret' } })).toMatchObject({
      authorization: basic,
    });
  });

  it('takes the file, the context and the user that a command line names, with the namespace of the context', async () => {
    const more = {
      contexts: [
        { name: 'x', context: { cluster: 'c', user: 'u' } },
        { name: 'y', context: { cluster: 'c', user: 'v', namespace: 'team' } },
      ],
      users: [
        { name: 'u', user: { token: 'abc' } },
        { name: 'v', user: { token: 'def', as: 'ann', 'as-groups': ['a', 'b, c'], 'as-uid': '7' } },
      ],
    };
    const config = await api.kubeconfig({ more });
    const access = await programAccess({ KUBERNETES_SERVICE_HOST: '10.0.0.1' }, { kubeconfig: config });
    expect(access.namespace).toBeUndefined();
    const impersonation = { user: 'kim', groups: ['g', 'h'] };
    for (const choice of [{ context: 'y' }, { context: 'y', impersonation }]) {
      const chosen = await programAccess({ KUBECONFIG: config }, choice);
      expect(chosen.namespace).toBe('team');
      await createKubeClient({ ...chosen, userAgent: 'unit' }).get(namespaces, { name: 'default' });
    }
    expect(api.seen).toMatchObject([
      { authorization: 'Bearer def', impersonated: 'ann', groups: ['a', 'b, c'], uid: '7' },
      { authorization: 'Bearer def', impersonated: 'kim', groups: ['g', 'h'], uid: undefined },
    ]);
    await expect(programAccess({ KUBECONFIG: config }, { context: 'z' })).rejects.toThrow(
      'there is no context "z"',
    );
  });

  it('reads a token file again after a minute, and prefers it to a token', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    await api.put('token', 'first\n');
    const client = await clientOf({
      KUBECONFIG: await api.kubeconfig({ user: { tokenFile: 'token', token: 'other' } }),
    });
    const authorization = async () => {
      await client.get(namespaces, { name: 'default' });
      return api.seen.at(-1)?.authorization;
    };
    expect(await authorization()).toBe('Bearer first');
    await api.put('token', 'second\n');
    expect(await authorization()).toBe('Bearer first');
    vi.setSystemTime(Date.now() + 61_000);
    expect(await authorization()).toBe('Bearer second');
  });

  it('runs an exec plugin once for requests at a time, and again when its credential has expired', async () => {
    const command = await plugin(
      credential('"token":"\'$count\'","expirationTimestamp":"2030-01-01T00:00:00Z"'),
    );
    vi.useFakeTimers({ toFake: ['Date'] });
    vi.setSystemTime(new Date('2029-12-31T23:59:00Z'));
    const client = await clientOf({ KUBECONFIG: await api.kubeconfig({ user: exec(command) }) });
    const get = () => client.get(namespaces, { name: 'default' });
    await Promise.all([get(), get(), get()]);
    expect(api.seen.map((each) => each.authorization)).toEqual(Array(3).fill('Bearer 1'));
    vi.setSystemTime(new Date('2030-01-01T00:01:00Z'));
    await get();
    expect(api.seen.at(-1)?.authorization).toBe('Bearer 2');
    expect(await runs()).toBe(2);
  });

  it('passes ExecCredential to an exec plugin, with cluster info if requested', async () => {
    const command = await plugin(
      `printf %s "$KUBERNETES_EXEC_INFO" > ${api.file('info')}\n${credential('"token":"\'$EXTRA\'"')}`,
    );
    const more = { provideClusterInfo: true, env: [{ name: 'EXTRA', value: 'from-env' }] };
    expect(await api.seenBy({ user: exec(command, more) })).toMatchObject({
      authorization: 'Bearer from-env',
    });
    expect(JSON.parse(await readFile(api.file('info'), 'utf8'))).toMatchObject({
      apiVersion: 'client.authentication.k8s.io/v1',
      kind: 'ExecCredential',
      spec: { interactive: false, cluster: { server: api.server } },
    });
  });

  it('signs in with the certificate of an exec plugin', async () => {
    const { cert, key } = await api.authority.issue({ name: 'robot' }, { use: 'client' });
    const status = JSON.stringify({ clientCertificateData: cert, clientKeyData: key }).slice(1, -1);
    await api.put('credential.json', `{"kind":"ExecCredential","status":{${status}}}`);
    const command = await plugin(`cat ${api.file('credential.json')}`);
    expect(await api.seenBy({ user: exec(command) })).toMatchObject({ certificate: 'robot' });
  });

  it('is read again when its credentials are refused', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const config = await api.kubeconfig({ user: { token: 'old' } });
    const client = await clientOf({ KUBECONFIG: config });
    const get = () => client.get(namespaces, { name: 'default' });
    await api.kubeconfig({ user: { token: 'new' } });
    api.status = 401;
    vi.advanceTimersByTime(11_000);
    await expect(get()).rejects.toMatchObject({ code: 'Unauthorized' });
    api.status = 200;
    await get();
    expect(api.seen.map((each) => each.authorization)).toEqual(['Bearer old', 'Bearer new']);
  });

  it('is merged of several files as kubectl does: the first to name something counts', async () => {
    const second = await api.kubeconfig({
      cluster: { server: 'https://elsewhere' },
      user: { token: 'second' },
    });
    const users = [{ name: 'u', user: { token: 'first' } }];
    const clusters = [{ name: 'c', cluster: { server: api.server, 'certificate-authority': 'ca.crt' } }];
    await api.put('one', stringify({ users, clusters }));
    await api.put('empty', '');
    const client = await clientOf({
      KUBECONFIG: [api.file('missing'), api.file('empty'), api.file('one'), second].join(path.delimiter),
    });
    await client.get(namespaces, { name: 'default' });
    expect(api.seen).toMatchObject([{ authorization: 'Bearer first' }]);
  });

  it('may say that the certificate is of another name, or not to be verified', async () => {
    const cluster = { 'tls-server-name': 'localhost' };
    expect(await api.seenBy({ cluster })).toBeDefined();
    await expect(api.seenBy({ cluster: { 'tls-server-name': 'somebody' } })).rejects.toThrow(/altnames/);
    await expect(api.seenBy({ cluster: { 'certificate-authority': null } })).rejects.toThrow(
      /unable to verify|self-signed/,
    );
    const blind = { 'certificate-authority': null, 'insecure-skip-tls-verify': true };
    expect(await api.seenBy({ cluster: blind })).toBeDefined();
  });

  it('may name a proxy', async () => {
    const asked: (string | undefined)[] = [];
    const proxy = createHttpServer().listen(0, '127.0.0.1');
    proxy.on('connect', ({ url = '' }, socket, head) => {
      asked.push(url);
      const upstream = net.connect(api.port, '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
        upstream.write(head);
        upstream.pipe(socket).pipe(upstream);
      });
      for (const each of [socket, upstream]) each.on('error', () => undefined);
    });
    await once(proxy, 'listening');
    try {
      const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
      await api.seenBy({ cluster: { 'proxy-url': url }, user: { token: 'abc' } });
      expect(asked).toEqual([`127.0.0.1:${api.port}`]);
      expect(api.seen).toMatchObject([{ authorization: 'Bearer abc' }]);
    } finally {
      proxy.close().closeAllConnections();
    }
  });

  it('suffices for a watch, which ends on abort', async () => {
    const client = await clientOf({ KUBECONFIG: await api.kubeconfig({ user: { token: 'abc' } }) });
    const control = new AbortController();
    const events: string[] = [];
    for await (const event of client.watch(namespaces, { resourceVersion: '1' }, control.signal)) {
      events.push(event.type);
      control.abort();
    }
    expect(events).toEqual(['ADDED']);
  });

  it.each<[string, Kubeconfig | string, RegExp]>([
    [
      'no context chosen',
      { more: { 'current-context': '' } },
      /config: no context is selected.*use-context NAME.*: x\)/,
    ],
    [
      'a context that is missing',
      { more: { 'current-context': 'y' } },
      /config: there is no context "y".*: x\)/,
    ],
    [
      'a user that is missing',
      { more: { users: [] } },
      /context x refers to the user "u", which does not exist/,
    ],
    ['invalid YAML', '{\n\t- {', /config is not valid YAML: [^\n]+$/],
    ['nothing in it', '# to be filled\n', /config: no context is selected/],
    ['another document', '[1]', /config is not a kubeconfig/],
  ])('with %s is rejected with file and solution', async (_, config, message) => {
    if (typeof config === 'string') await api.put('config', config);
    else await api.kubeconfig(config);
    await expect(programAccess({ KUBECONFIG: api.file('config') })).rejects.toMatchObject({
      code: 'Invalid',
      message: expect.stringMatching(message),
    });
  });

  it.each<[string, object, RegExp]>([
    [
      'a token file that is missing',
      { tokenFile: 'none' },
      /user u of context x, kubeconfig .*config: ENOENT.*\/none/,
    ],
    ['an empty token file', { tokenFile: 'empty' }, /the token file .*\/empty is empty/],
    [
      'a plugin that is not installed',
      exec('arc-no-such-plugin', { installHint: 'Install it from example.com.' }),
      /the credential plugin "arc-no-such-plugin" is not installed. Install it from example.com./,
    ],
    [
      'a plugin that fails',
      exec('./plugin.sh'),
      /the credential plugin ".*plugin.sh" failed: Log in first: run it\.$/,
    ],
  ])('with %s fails requests with a clear message', async (_, user, message) => {
    await api.put('empty', '');
    await plugin('printf "Log in first:\\nrun it.\\n" >&2; exit 1');
    await expect(api.seenBy({ user })).rejects.toMatchObject({
      code: 'ServiceUnavailable',
      message: expect.stringMatching(message),
    });
    expect(api.seen).toEqual([]);
  });
});

describe('programAccess', () => {
  it('takes the service account in a pod, and reads its token again', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    await api.put('token', 'first');
    const client = await clientOf({
      KUBERNETES_SERVICE_HOST: '127.0.0.1',
      KUBERNETES_SERVICE_PORT: String(api.port),
      ARC_TOKEN_FILE: api.file('token'),
      ARC_CA_FILE: api.file('ca.crt'),
    });
    await client.get(namespaces, { name: 'default' });
    await api.put('token', 'second');
    vi.setSystemTime(Date.now() + 61_000);
    await client.get(namespaces, { name: 'default' });
    expect(api.seen.map((each) => each.authorization)).toEqual(['Bearer first', 'Bearer second']);
  });

  it('knows the namespace of the pod, which stands beside the token', async () => {
    const env = {
      ARC_API_SERVER: api.server,
      ARC_TOKEN_FILE: api.file('token'),
      ARC_CA_FILE: api.file('ca.crt'),
    };
    expect((await programAccess(env)).namespace).toBeUndefined();
    await api.put('namespace', 'team\n');
    expect((await programAccess(env)).namespace).toBe('team');
  });

  it('follows a renewed authority without a restart', async () => {
    await api.put('token', 'abc');
    await api.put('pod-ca.crt', (await createAuthority('former')).cert);
    const env = {
      ARC_API_SERVER: api.server,
      ARC_TOKEN_FILE: api.file('token'),
      ARC_CA_FILE: api.file('pod-ca.crt'),
    };
    const client = await clientOf(env);
    const get = () => client.get(namespaces, { name: 'default' });
    await expect(get()).rejects.toThrow(/unable to verify|self-signed|certificate signature/);
    await api.put('pod-ca.crt', api.authority.cert);
    await get();
    expect(api.seen).toHaveLength(1);
  });

  it('takes ARC_API_SERVER before KUBECONFIG, that before the pod, and ~/.kube/config last', async () => {
    const KUBECONFIG = await api.kubeconfig({ cluster: { server: 'https://kubeconfig' } });
    const pod = { KUBERNETES_SERVICE_HOST: 'pod' };
    const ARC_API_SERVER = 'https://explicit';
    expect((await programAccess({ KUBECONFIG, ARC_API_SERVER, ...pod })).server).toBe(ARC_API_SERVER);
    expect((await programAccess({ KUBECONFIG, ...pod })).server).toBe('https://kubeconfig');
    await mkdir(api.file('.kube'));
    await rename(KUBECONFIG, api.file('.kube/config'));
    expect((await programAccess({ ...pod, HOME: api.folder })).server).toBe('https://pod:443');
    expect((await programAccess({ HOME: api.folder })).server).toBe('https://kubeconfig');
  });

  it('names the settings to use without a cluster', async () => {
    await expect(programAccess({ HOME: api.folder })).rejects.toMatchObject({
      code: 'Invalid',
      message: expect.stringMatching(
        /there is no .*KUBERNETES_SERVICE_HOST is not set.*KUBECONFIG, or ARC_API_SERVER/,
      ),
    });
  });
});

describe('functionAccess', () => {
  it('takes the light way in a pod and a kubeconfig elsewhere', async () => {
    const pod = await functionAccess({ KUBERNETES_SERVICE_HOST: '10.0.0.1' });
    expect(pod).toMatchObject({ server: 'https://10.0.0.1:443', token: expect.any(Function) });
    expect(pod.fetch).toBeUndefined();
    const KUBECONFIG = await api.kubeconfig({ user: { token: 'abc' } });
    const outside = await functionAccess({ KUBECONFIG });
    expect(outside).toMatchObject({ server: api.server, fetch: expect.any(Function) });
  });
});
