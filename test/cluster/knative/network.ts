import { describe, expect, it } from 'vitest';
import { eventually } from '../../../shared/base/testing/eventually.ts';
import { arc, ended } from './conduit.ts';
import { apply, field, kubectl } from './kubectl.ts';
import { orderOf } from './team.ts';

const minutes = 60_000;
/** What the policies of ARC refuse. Needs a cluster that enforces them, a team (`prepareTeam`) and the component network-policies. */
export function describeNetwork(): void {
  describe('the network policies', { timeout: 8 * minutes }, () => {
    it('keep workers from a private server that no policy names', async () => {
      const labels = { app: 'private' };
      const containers = [
        {
          name: 'registry',
          image: 'dev.local/registry:test',
          command: ['/registry', 'serve', '/etc/registry/destination.yml'],
          env: [{ name: 'OTEL_TRACES_EXPORTER', value: 'none' }],
          volumeMounts: [
            { name: 'config', mountPath: '/etc/registry' },
            { name: 'data', mountPath: '/data' },
          ],
        },
      ];
      const volumes = [
        { name: 'config', configMap: { name: 'registry' } },
        { name: 'data', emptyDir: {} },
      ];
      const metadata = { name: 'private', namespace: 'registries', labels };
      await apply({ apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers, volumes } });
      const ports = [{ port: 5000 }];
      await apply({ apiVersion: 'v1', kind: 'Service', metadata, spec: { selector: labels, ports } });
      // The server itself answers.
      await eventually('the private registry to answer', 2 * minutes, async () => {
        await kubectl('get', '--raw', '/api/v1/namespaces/registries/services/private:5000/proxy/v2/');
      });
      await apply({
        apiVersion: 'arc.opendefense.cloud/v1alpha1',
        kind: 'Endpoint',
        metadata: { name: 'private', namespace: 'team' },
        spec: { type: 'oci', remoteURL: 'http://private.registries.svc:5000', tls: { plainHTTP: true } },
      });
      const artifacts = [{ type: 'oci', srcRef: { name: 'private' }, spec: { image: 'any/thing:1.0' } }];
      await apply(orderOf('to-private', artifacts, { retry: { limit: 0 } }));
      expect(await ended('team', 'to-private')).toBe('Failed');
      expect(await field('{.status.message}', '-n', 'team', 'order', 'to-private')).toMatch(
        /could not be reached/,
      );
      // probe-endpoint is kept from the same server.
      await eventually('the probe to say so', 2 * minutes, async () => {
        const path = '{.status.conditions[?(@.type=="Reachable")].status}';
        expect(await field(path, '-n', 'team', 'aep', 'private')).toBe('False');
      });
      await kubectl('-n', 'team', 'delete', 'order/to-private', 'aep/private');
      await kubectl('-n', 'registries', 'delete', 'pod/private', 'service/private', '--wait=false');
    });

    it('keep strangers from etcd, and from the functions', async () => {
      const connect = (host: string, port: number) =>
        `await new Promise((done) => { const socket = net.connect(${port}, '${host}'); const end = (what) => { ` +
        `clearTimeout(timer); socket.destroy(); console.log('${host}', what); done(); }; ` +
        `const timer = setTimeout(end, 5000, 'no answer'); ` +
        `socket.on('connect', () => end('open')).on('error', () => end('refused')); });`;
      const pod = await field(
        '{.items[0].status.podIP}',
        '-n',
        arc,
        'pods',
        '-l',
        'app.kubernetes.io/name=etcd',
      );
      const tried = [
        connect('api-server.arc-system.svc', 443),
        connect('etcd.arc-system.svc', 2379),
        connect(pod, 2379),
      ];
      const script = `import net from 'node:net'; ${tried.join(' ')}`;
      const spec = {
        restartPolicy: 'Never',
        containers: [
          {
            name: 'stranger',
            image: 'dev.local/artifact-conduit:dev',
            command: ['node', '--input-type=module', '--eval', script],
          },
        ],
      };
      const metadata = { name: 'stranger', namespace: 'registries' };
      await apply({ apiVersion: 'v1', kind: 'Pod', metadata, spec });
      await eventually('the stranger to end', 2 * minutes, async () => {
        expect(await field('{.status.phase}', '-n', 'registries', 'pod', 'stranger')).toBe('Succeeded');
      });
      const said = (await kubectl('-n', 'registries', 'logs', 'stranger')).split('\n');
      await kubectl('-n', 'registries', 'delete', 'pod', 'stranger', '--wait=false');
      expect(said).toEqual([
        'api-server.arc-system.svc open',
        expect.stringMatching(/no answer|refused/),
        expect.stringMatching(/no answer|refused/),
      ]);
    });
  });
}
