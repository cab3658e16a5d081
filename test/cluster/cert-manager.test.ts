import { createPrivateKey, createPublicKey, X509Certificate } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import * as z from 'zod';
import { isGoodAuthority, isGoodLeaf } from '../../functions/certificate-issuer/certificate.ts';
import { leaves } from '../../functions/certificate-issuer/leaves.ts';
import { eventually } from '../../shared/base/testing/eventually.ts';
import { routeTo } from '../fixtures/cluster/aggregated-server.ts';
import { type ApiServerProcess, startApiServer } from '../fixtures/cluster/api-server-process.ts';
import { type Manifest, render, startCertManager } from '../fixtures/cluster/cert-manager.ts';
import { describeCluster, type Machine } from '../fixtures/cluster/cluster.ts';
import { type ControlPlane, startControlPlane } from '../fixtures/cluster/control-plane.ts';
import { type EtcdProcess, startEtcd } from '../fixtures/etcd/process.ts';
import type { Program } from '../fixtures/program.ts';

const secretSchema = z.object({ data: z.record(z.string(), z.string()) });
const container = z.looseObject({
  command: z.array(z.string()),
  env: z.array(z.looseObject({ name: z.string(), value: z.string().optional() })).optional(),
  volumeMounts: z.array(z.looseObject({ name: z.string(), mountPath: z.string() })),
});
const workload = z.looseObject({
  spec: z.looseObject({
    template: z.looseObject({
      spec: z.looseObject({
        containers: z.tuple([container]),
        volumes: z.array(
          z.looseObject({ name: z.string(), secret: z.looseObject({ secretName: z.string() }).optional() }),
        ),
      }),
    }),
  }),
});
/** The longest that anything here takes where every processor is busy with something else. */
const wait = 90_000;
const namespaced = ['-n', 'arc-system'];
const serverAuth = '1.3.6.1.5.5.7.3.1';
const clientAuth = '1.3.6.1.5.5.7.3.2';

interface Pair {
  cert: string;
  key: string;
  ca: string;
}

/** cert-manager's own controllers and cainjector, before a real kube-apiserver, on what kustomize renders. */
const tests = ({ assets, host }: Machine) => {
  let plane: ControlPlane;
  let manager: Program | undefined;
  let etcd: EtcdProcess | undefined;
  let ours: ApiServerProcess | undefined;
  let rendered: Manifest[] = [];
  const kubectl: ControlPlane['kubectl'] = (...args) => plane.kubectl(...args);

  const read = async (secretName: string): Promise<Pair> => {
    const { stdout } = await kubectl(['get', 'secret', secretName, ...namespaced, '-o', 'json']);
    const { data } = secretSchema.parse(JSON.parse(stdout));
    const text = (name: string) => Buffer.from(data[name] ?? '', 'base64').toString();
    return { cert: text('tls.crt'), key: text('tls.key'), ca: text('ca.crt') };
  };
  const ready = () =>
    eventually('every Certificate to be Ready', wait, async () => {
      manager?.mustRun();
      const condition = '{.items[*].status.conditions[?(@.type=="Ready")].status}';
      const { stdout } = await kubectl(['get', 'certificates', ...namespaced, '-o', `jsonpath=${condition}`]);
      if (stdout !== 'True True True True True') throw new Error(`${stdout}\n${manager?.output.stderr}`);
    });
  const podOf = (kind: string, name: string) => {
    const found = rendered.find((one) => one.kind === kind && one.metadata.name === name);
    const { containers, volumes } = workload.parse(found).spec.template.spec;
    return { ...containers[0], volumes };
  };
  const file = (secretName: string, name = '') => path.join(plane.folder, 'mounted', secretName, name);
  /** Puts a Secret where kubelet would. */
  const mount = async (secretName: string) => {
    const { cert, key, ca } = await read(secretName);
    await mkdir(file(secretName), { recursive: true });
    const files = { 'tls.crt': cert, 'tls.key': key, 'ca.crt': ca };
    for (const [name, text] of Object.entries(files)) await writeFile(file(secretName, name), text);
  };
  /** The text with the paths of the pod turned into where its Secrets are mounted here. */
  const here = ({ volumeMounts, volumes }: ReturnType<typeof podOf>, text: string) =>
    volumeMounts.reduce((so, { name, mountPath }) => {
      const secret = volumes.find((volume) => volume.name === name)?.secret;
      return secret === undefined ? so : so.replace(mountPath, path.dirname(file(secret.secretName, 'x')));
    }, text);
  /** What `cmctl renew` does. */
  const renew = async (certificate: string) => {
    const { stdout } = await kubectl(['get', 'certificate', certificate, ...namespaced, '-o', 'json']);
    const { metadata } = z
      .looseObject({ metadata: z.looseObject({ generation: z.number() }) })
      .parse(JSON.parse(stdout));
    const condition = {
      type: 'Issuing',
      status: 'True',
      reason: 'ManuallyTriggered',
      message: 'renewed by a test',
      lastTransitionTime: new Date().toISOString().replace(/\.\d+Z/, 'Z'),
      observedGeneration: metadata.generation,
    };
    const patch = JSON.stringify([{ op: 'add', path: '/status/conditions/-', value: condition }]);
    await kubectl([
      ...[
        'patch',
        'certificate',
        certificate,
        ...namespaced,
        '--subresource=status',
        '--type=json',
        '-p',
        patch,
      ],
    ]);
  };
  const renewed = async (secretName: string, before: Pair): Promise<Pair> => {
    let now = before;
    await eventually(`another certificate in ${secretName}`, wait, async () => {
      manager?.mustRun();
      now = await read(secretName);
      expect(now.cert).not.toBe(before.cert);
    });
    return now;
  };

  beforeAll(async () => {
    plane = await startControlPlane(assets, host);
    manager = await startCertManager(assets, plane);
    rendered = await render(plane, 'dev', ['cert-manager']);
    // Those of Knative and Argo are not installed here.
    const known = rendered.filter(({ apiVersion }) => !/knative\.dev|argoproj\.io/.test(apiVersion));
    const input = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: known });
    await kubectl(['apply', '-f', '-'], { input });
  }, 180_000);

  afterAll(async () => {
    await ours?.kill();
    await etcd?.stop();
    await manager?.stop();
    await plane?.stop();
  }, 60_000);

  it('leaves certificate-issuer out without a trace, and makes every Secret that is mounted', () => {
    expect(JSON.stringify(rendered)).not.toContain('certificate-issuer');
    const wanted = [podOf('StatefulSet', 'etcd'), podOf('Deployment', 'api-server')].flatMap(({ volumes }) =>
      volumes.flatMap(({ secret }) => (secret === undefined ? [] : [secret.secretName])),
    );
    const made = rendered
      .filter(({ kind }) => kind === 'Certificate')
      .map(
        (one) =>
          z.looseObject({ spec: z.looseObject({ secretName: z.string() }) }).parse(one).spec.secretName,
      );
    expect(wanted.toSorted()).toEqual(leaves.map(({ secretName }) => secretName).toSorted());
    expect(made.toSorted()).toEqual(['arc-ca', ...wanted].toSorted());
  });

  it('gets certificates that certificate-issuer would have made, of one authority', async () => {
    await ready();
    const now = new Date();
    const authority = await read('arc-ca');
    expect(isGoodAuthority(authority, now)).toBe(true);
    for (const leaf of leaves) {
      const pair = await read(leaf.secretName);
      expect([leaf.secretName, pair.ca]).toEqual([leaf.secretName, authority.cert]);
      expect([leaf.secretName, isGoodLeaf(pair, leaf, authority, now)]).toEqual([leaf.secretName, true]);
      const usages = new X509Certificate(pair.cert).keyUsage;
      const isPeer = leaf.secretName.startsWith('etcd-');
      if (leaf.hosts.length > 0) expect(usages).toContain(serverAuth);
      if (isPeer || leaf.hosts.length === 0) expect(usages).toContain(clientAuth);
    }
  }, 180_000);

  it('joins etcd, api-server and kube-apiserver', async () => {
    for (const { secretName } of leaves) await mount(secretName);
    const etcdPod = podOf('StatefulSet', 'etcd');
    const flags = etcdPod.command.filter((flag) => /^--[a-z-]*(cert|key|ca)-(file|auth)=/.test(flag));
    expect(flags).toHaveLength(8);
    etcd = await startEtcd(path.join(assets, 'etcd'), [], async () =>
      flags.map((flag) => here(etcdPod, flag)),
    );

    const pod = podOf('Deployment', 'api-server');
    const ofEtcd = (pod.env ?? []).filter(({ name }) => /^ARC_ETCD_.*_FILE$/.test(name));
    const token = await kubectl(['create', 'token', 'api-server', ...namespaced]);
    await writeFile(path.join(plane.folder, 'token'), token.stdout);
    ours = await startApiServer(host, {
      ...Object.fromEntries(ofEtcd.map(({ name, value = '' }) => [name, here(pod, value)])),
      ARC_ETCD_ENDPOINTS: etcd.endpoint,
      ARC_TLS_CERT_FILE: file('api-server-tls', 'tls.crt'),
      ARC_TLS_KEY_FILE: file('api-server-tls', 'tls.key'),
      ARC_API_SERVER: plane.url,
      ARC_TOKEN_FILE: path.join(plane.folder, 'token'),
      ARC_CA_FILE: path.join(plane.folder, 'pki/ca.crt'),
      ARC_SHUTDOWN_DELAY_SECONDS: '1',
    });
    await routeTo(plane.admin(), host, ours.port);
    await available();
    expect((await kubectl(['get', 'orders', '-A'])).stderr).toContain('No resources found');
  }, 180_000);

  it('serves with a certificate that was renewed, and gets back a Secret that was deleted', async () => {
    const before = await read('api-server-tls');
    await renew('api-server');
    await renewed('api-server-tls', before);
    await mount('api-server-tls');
    await eventually('the new certificate to be in use', wait, () =>
      expect(ours?.program().output.stdout).toContain('using a new serving certificate'),
    );
    await available();
    await kubectl(['get', 'orders', '-A']);

    const lost = await read('etcd-server-tls');
    await kubectl(['delete', 'secret', 'etcd-server-tls', ...namespaced]);
    await eventually('the Secret to be there again', wait, async () => {
      expect((await read('etcd-server-tls')).cert).not.toBe(lost.cert);
    });
    expect((await read('etcd-server-tls')).ca).toBe(lost.ca);
  }, 180_000);

  it('keeps the key of the authority: what it signed before is trusted after, and the other way round', async () => {
    const before = await read('arc-ca');
    const oldLeaf = new X509Certificate((await read('etcd-peer-tls')).cert);
    await renew('arc-ca');
    const after = await renewed('arc-ca', before);
    expect(publicKey(after)).toBe(publicKey(before));
    const authority = new X509Certificate(after.cert);
    expect(oldLeaf.checkIssued(authority) && oldLeaf.verify(authority.publicKey)).toBe(true);
    const peer = await read('etcd-peer-tls');
    await renew('etcd-peer');
    const newLeaf = new X509Certificate((await renewed('etcd-peer-tls', peer)).cert);
    const old = new X509Certificate(before.cert);
    expect(newLeaf.checkIssued(old) && newLeaf.verify(old.publicKey)).toBe(true);
  }, 180_000);

  const available = () =>
    eventually('the APIService to be available', wait, async () => {
      const condition = '{.status.conditions[?(@.type=="Available")].status}';
      const { stdout } = await kubectl([
        ...['get', 'apiservice', 'v1alpha1.arc.opendefense.cloud', '-o', `jsonpath=${condition}`],
      ]);
      expect(stdout).toBe('True');
    });
};
describeCluster('components/cert-manager', tests, 'cert-manager');

function publicKey({ key }: Pair): string {
  return createPublicKey(createPrivateKey(key)).export({ type: 'spki', format: 'pem' }).toString();
}
