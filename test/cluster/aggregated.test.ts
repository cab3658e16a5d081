import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import path from 'node:path';
import tls from 'node:tls';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../../shared/base/testing/eventually.ts';
import type { AggregatedServer } from '../fixtures/cluster/aggregated-server.ts';
import { type Cluster, describeCluster, startCluster } from '../fixtures/cluster/cluster.ts';
import type { ControlPlane } from '../fixtures/cluster/control-plane.ts';

/** The authorities that this process trusts before a test adds any. */
const authorities = tls.getCACertificates('default');
const stores = ['embedded', 'etcd'] as const;
const orders = '/apis/arc.opendefense.cloud/v1alpha1/namespaces/team/orders';

/** What a cluster sees of us: every request but those that try to go around kube-apiserver comes from it. */
for (const store of stores)
  describeCluster(`behind kube-apiserver, on the ${store} store`, (machine) => {
    let cluster: Cluster;
    let plane: ControlPlane;
    let ours: AggregatedServer;
    const kubectl: ControlPlane['kubectl'] = (...args) => plane.kubectl(...args);

    const order = (name: string, extra = '') => `
apiVersion: arc.opendefense.cloud/v1alpha1
kind: Order
metadata: { name: ${name}, namespace: team }
spec:
  defaults: { srcRef: { name: source }, dstRef: { name: destination } }
  artifacts: [{ name: app, type: oci, spec: { image: 'team/app:1.0' } }]${extra}
`;

    /** A ServiceAccount's kubectl: its token instead of the admin's certificate. */
    async function asAccount(name: string): Promise<string[]> {
      const { stdout } = await kubectl(['create', 'token', name, '-n', 'team']);
      const cluster = ['--server', plane.url, '--certificate-authority', `${plane.folder}/pki/ca.crt`];
      return [...cluster, '--kubeconfig=/dev/null', '--token', stdout.trim()];
    }

    /** Straight to us, around kube-apiserver. */
    function direct(
      urlPath: string,
      how: { headers?: Record<string, string>; cert?: string; key?: string },
    ): Promise<{ status: number; body: string }> {
      return new Promise((resolve, reject) => {
        const { headers = {}, ...pair } = how;
        const options = { ca: plane.authority.cert, headers, agent: false, ...pair };
        const outgoing = request(`${ours.first.url}${urlPath}`, options, (answer) => {
          let body = '';
          answer.setEncoding('utf8').on('data', (text: string) => {
            body += text;
          });
          answer.on('end', () => resolve({ status: answer.statusCode ?? 0, body }));
        });
        outgoing.on('error', reject).end();
      });
    }

    beforeAll(async () => {
      cluster = await startCluster(machine, { store });
      ({ plane, ours } = cluster);
      await kubectl(['create', 'namespace', 'team']);
      for (const name of ['writer', 'nobody'])
        await kubectl(['create', 'serviceaccount', name, '-n', 'team']);
      const rule = ['--verb=get,list,watch,create,patch', '--resource=orders.arc.opendefense.cloud'];
      await kubectl(['create', 'role', 'orders', '-n', 'team', ...rule]);
      await kubectl([
        ...['create', 'rolebinding', 'orders', '-n', 'team', '--role=orders', '--serviceaccount=team:writer'],
      ]);
    }, 180_000);

    afterAll(async () => {
      await cluster?.stop();
    }, 60_000);

    it('creates, shows, changes, describes and deletes through the aggregator', async () => {
      expect((await kubectl(['apply', '-f', '-'], { input: order('first') })).stdout).toContain(
        'first created',
      );
      expect((await kubectl(['get', 'orders', '-n', 'team'])).stdout).toMatch(/^NAME +PHASE[\s\S]*\nfirst /);
      const changed = order('first', '\n  ttl: 24h');
      expect((await kubectl(['apply', '-f', '-'], { input: changed })).stdout).toContain('configured');
      expect((await kubectl(['apply', '-f', '-'], { input: changed })).stdout).toContain('unchanged');
      expect((await kubectl(['describe', 'order', 'first', '-n', 'team'])).stdout).toMatch(/Ttl: +24h/i);
      expect((await kubectl(['delete', 'order', 'first', '-n', 'team', '--wait'])).stdout).toContain(
        'deleted',
      );
      const gone = await kubectl(['get', 'order', 'first', '-n', 'team'], { exit: 1 });
      expect(gone.stderr).toContain(
        'Error from server (NotFound): orders.arc.opendefense.cloud "first" not found',
      );
    });

    it('goes on with the watches of others when the headers of a user are too large for it', async () => {
      const { stdout: token } = await kubectl(['create', 'token', 'writer', '-n', 'team']);
      const ask = async (urlPath: string, headers: Record<string, string> = {}) => {
        const all = { authorization: `Bearer ${token.trim()}`, ...headers };
        const outgoing = request(`${plane.url}${urlPath}`, {
          ca: plane.authority.cert,
          headers: all,
          agent: false,
        });
        const [answer] = (await once(outgoing.end(), 'response')) as [IncomingMessage];
        return answer.setEncoding('utf8');
      };
      const watch = await ask(`${orders}?watch=true`);
      let lines = '';
      watch.on('data', (text: string) => {
        lines += text;
      });
      for (const bytes of [60_000, 66_000, 200_000]) {
        const { statusCode } = (await ask(orders, { 'x-large': 'x'.repeat(bytes) })).resume();
        expect(statusCode === 200).toBe(bytes < 64 * 1024);
      }
      await kubectl(['create', '-f', '-'], { input: order('still-seen') });
      await eventually('the watch to show it', 5_000, () => expect(lines).toContain('still-seen'));
      watch.destroy();
      await kubectl(['delete', 'order', 'still-seen', '-n', 'team']);
    });

    it('is found by discovery, and its schemas reach the cluster', async () => {
      const { stdout } = await kubectl(['api-resources', '--api-group=arc.opendefense.cloud']);
      expect(stdout).toContain('artifactworkflows');
      await eventually('the schemas to be merged', 70_000, async () => {
        const { stdout: explained } = await kubectl(['explain', 'orders.spec']);
        expect(explained).toContain('artifacts');
      });
      const refused = await kubectl(['create', '-f', '-'], { input: order('bad', '\n  bogus: 1'), exit: 1 });
      expect(refused.stderr).toContain('unknown field "spec.bogus"');
    });

    it('creates nothing in a namespace that is missing, and in a new one at once', async () => {
      const elsewhere = (name: string) => order('placed').replace('namespace: team', `namespace: ${name}`);
      const refused = await kubectl(['create', '-f', '-'], { input: elsewhere('missing'), exit: 1 });
      expect(refused.stderr).toContain('namespaces "missing" not found');
      await kubectl(['create', 'namespace', 'fresh']);
      await kubectl(['create', '-f', '-'], { input: elsewhere('fresh') });
    });

    it('takes a new serving certificate without losing a connection', async () => {
      const watch = spawn(
        path.join(machine.assets, 'kubectl'),
        ['get', 'orders', '-n', 'team', '-w', '-o', 'name'],
        {
          env: plane.env,
        },
      );
      let seen = '';
      watch.stdout.setEncoding('utf8').on('data', (text: string) => {
        seen += text;
      });
      try {
        await ours.renewCertificate();
        await eventually('the new certificate to be in use', 30_000, () =>
          expect(ours.first.program().output.stdout).toContain('using a new serving certificate'),
        );
        await kubectl(['create', '-f', '-'], { input: order('after-renewal') });
        await eventually('the old watch to go on', 10_000, () => expect(seen).toContain('after-renewal'));
        expect(watch.exitCode).toBe(null);
        await ours.available();
      } finally {
        watch.kill();
        await once(watch, 'close');
      }
    });

    it('gives a ServiceAccount exactly the rights that RBAC gives it', async () => {
      const writer = await asAccount('writer');
      const can = ['auth', 'can-i', 'create', 'orders.arc.opendefense.cloud', '-n', 'team'];
      expect((await kubectl([...can, ...writer])).stdout).toBe('yes\n');
      await kubectl(['create', '-f', '-', ...writer], { input: order('second') });
      expect((await kubectl(['get', 'orders', '-n', 'team', '-o', 'name', ...writer])).stdout).toContain(
        'second',
      );
      const refused = await kubectl(['delete', 'order', 'second', '-n', 'team', ...writer], { exit: 1 });
      expect(refused.stderr).toContain(
        'Error from server (Forbidden): orders.arc.opendefense.cloud "second" is forbidden: User "system:serviceaccount:team:writer" cannot delete resource "orders" in API group "arc.opendefense.cloud" in the namespace "team"',
      );
      const nobody = await asAccount('nobody');
      expect((await kubectl([...can, ...nobody], { exit: 1 })).stdout).toBe('no\n');
      const unseen = await kubectl(['get', 'orders', '-n', 'team', ...nobody], { exit: 1 });
      expect(unseen.stderr).toContain(
        'User "system:serviceaccount:team:nobody" cannot list resource "orders"',
      );
    });

    it('impersonates through the aggregator as kube-apiserver decided', async () => {
      const as = ['--as=system:serviceaccount:team:nobody'];
      const { stderr } = await kubectl(['get', 'orders', '-n', 'team', ...as], { exit: 1 });
      expect(stderr).toContain('User "system:serviceaccount:team:nobody" cannot list resource "orders"');
    });

    it('watches through the aggregator', async () => {
      const watch = spawn(
        path.join(machine.assets, 'kubectl'),
        ['get', 'orders', '-n', 'team', '-w', '--output-watch-events'],
        { env: plane.env },
      );
      let seen = '';
      watch.stdout.setEncoding('utf8').on('data', (text: string) => {
        seen += text;
      });
      try {
        await kubectl(['create', '-f', '-'], { input: order('watched') });
        await eventually('the watch to tell the creation', 20_000, () =>
          expect(seen).toMatch(/ADDED +watched/),
        );
        await kubectl(['label', 'order', 'watched', '-n', 'team', 'tier=gold']);
        await kubectl(['delete', 'order', 'watched', '-n', 'team']);
        await eventually('the watch to tell the deletion', 20_000, () =>
          expect(seen).toMatch(/MODIFIED +watched[\s\S]*DELETED +watched/),
        );
      } finally {
        watch.kill();
        await once(watch, 'close');
      }
    });

    it('watches over a WebSocket through the aggregator, with the token as a browser sends it', async () => {
      // Not beside the authority of the test before: both have one name, and OpenSSL may try the key of the wrong one.
      tls.setDefaultCACertificates([...authorities, plane.authority.cert]);
      const { stdout } = await kubectl(['create', 'token', 'writer', '-n', 'team']);
      const token = Buffer.from(stdout.trim()).toString('base64url');
      const socket = new WebSocket(
        `${plane.url.replace('https', 'wss')}${orders}?watch=true&resourceVersion=0`,
        [`base64url.bearer.authorization.k8s.io.${token}`, 'v1.example'],
      );
      const names: string[] = [];
      const failures: unknown[] = [];
      socket.addEventListener('error', (event) => failures.push('error' in event ? event.error : event));
      socket.addEventListener('message', ({ data }) => names.push(JSON.parse(data).object.metadata.name));
      await kubectl(['apply', '-f', '-'], { input: order('by-socket') });
      await eventually('the event', 15_000, () =>
        expect([names, failures]).toEqual([expect.arrayContaining(['by-socket']), []]),
      );
      expect(socket.protocol).toBe('v1.example');
      socket.close();
      await kubectl(['delete', 'order', 'by-socket', '-n', 'team']);
    });

    it('refuses a client that speaks for others without being the front proxy', async () => {
      const headers = { 'X-Remote-User': 'admin', 'X-Remote-Group': 'system:masters' };
      const bare = await direct(orders, { headers });
      expect(bare).toMatchObject({ status: 403 });
      expect(bare.body).toContain('User \\"system:anonymous\\" cannot list resource');
      const client = await plane.authority.issue({ name: 'front-proxy-client' });
      const spoofed = await direct(orders, { headers, ...client });
      expect(spoofed).toMatchObject({ status: 403 });
      expect(spoofed.body).toContain('User \\"front-proxy-client\\" cannot list resource');
      const otherName = await plane.frontProxyAuthority.issue({ name: 'somebody' });
      expect(await direct(orders, { headers, ...otherName })).toMatchObject({ status: 401 });
      const proxy = await plane.frontProxyAuthority.issue({ name: 'front-proxy-client' });
      expect(await direct(orders, { headers, ...proxy })).toMatchObject({ status: 200 });
    });

    it('accepts bearer tokens and client certificates of direct clients', async () => {
      const { stdout } = await kubectl(['create', 'token', 'writer', '-n', 'team']);
      const bearer = (token: string) => ({ headers: { Authorization: `Bearer ${token}` } });
      expect(await direct(orders, bearer(stdout.trim()))).toMatchObject({ status: 200 });
      expect(await direct(orders, bearer('nonsense'))).toMatchObject({ status: 401 });
      const admin = await plane.authority.issue({ name: 'root', organizations: ['system:masters'] });
      expect(await direct(orders, admin)).toMatchObject({ status: 200 });
      const impersonating = {
        ...bearer(stdout.trim()).headers,
        'Impersonate-User': 'system:admin',
        'Impersonate-Group': 'system:masters',
      };
      const refused = await direct(orders, { headers: impersonating });
      expect(refused).toMatchObject({ status: 403 });
      expect(refused.body).toContain('cannot impersonate resource');
    });

    it('counts and records what came through the aggregator', async () => {
      const admin = await plane.authority.issue({ name: 'root', organizations: ['system:masters'] });
      const metrics = await direct('/metrics', admin);
      expect(metrics.body).toMatch(
        /apiserver_request_total\{verb="POST",group="arc.opendefense.cloud",.*code="201"/,
      );
      expect(await direct('/metrics', {})).toMatchObject({ status: 403 });
      expect((await direct('/readyz?verbose', {})).body).toContain('readyz check passed');
      const lines = ours.first.program().output.stdout.trim().split('\n');
      const events = lines
        .filter((line) => line.includes('"audit.k8s.io/v1"'))
        .map((line) => JSON.parse(line));
      expect(events).toContainEqual(
        expect.objectContaining({
          stage: 'ResponseComplete',
          user: expect.objectContaining({ username: 'system:serviceaccount:team:writer' }),
          requestObject: expect.objectContaining({ kind: 'Order' }),
          responseStatus: expect.objectContaining({ code: 201 }),
        }),
      );
    });

    it('is available again after a restart, with everything it kept', async () => {
      await kubectl(['create', '-f', '-'], { input: order('kept') });
      expect(await ours.first.stop()).toBe(0);
      await ours.first.start();
      await ours.available();
      await eventually('the aggregator to reach us again', 20_000, async () => {
        expect((await kubectl(['get', 'orders', '-n', 'team', '-o', 'name'])).stdout).toContain('kept');
      });
    });
  });
