import { generateKeyPairSync } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Pki } from '../../scripts/standalone/pki.ts';
import { Client, type Server } from './client.ts';
import { freePort, type RunningProcess, startProcess, untilReady } from './process.ts';

/** The group our kinds have on the reference server, so that nobody takes one for the other. */
export const referenceGroup = 'reference.arc.opendefense.cloud';

/**
 * A real etcd and kube-apiserver, from the folder `assets`, on free loopback ports with state, keys and tokens of
 * their own in `folder`. No controllers run: what is deleted, claimed or collected is up to the corpus.
 */
export async function startReference(
  assets: string,
  folder: string,
  pki: Pki,
  tokens: Server['tokens'],
): Promise<{ server: Server; pid: number; stop(): Promise<void> }> {
  await mkdir(folder, { recursive: true });
  const started: RunningProcess[] = [];
  const stop = async () => {
    for (const one of started.reverse()) await one.stop();
  };
  try {
    const etcdUrl = await startEtcd(assets, folder, started);
    const { url, pid } = await startApiServer({ assets, folder, pki, tokens, etcdUrl, started });
    return { server: { name: 'reference', url, ca: pki.ca, group: referenceGroup, tokens }, pid, stop };
  } catch (caught) {
    await stop();
    throw caught;
  }
}

/** An etcd of one member with its data in `folder`; resolves with its URL. */
export async function startEtcd(assets: string, folder: string, started: RunningProcess[]): Promise<string> {
  const [clients, peers] = [`http://127.0.0.1:${await freePort()}`, `http://127.0.0.1:${await freePort()}`];
  const args = [
    '--name=reference',
    `--data-dir=${path.join(folder, 'etcd')}`,
    `--listen-client-urls=${clients}`,
    `--advertise-client-urls=${clients}`,
    `--listen-peer-urls=${peers}`,
    `--initial-advertise-peer-urls=${peers}`,
    `--initial-cluster=reference=${peers}`,
    '--unsafe-no-fsync',
    '--log-level=warn',
  ];
  const etcd = startProcess('etcd', path.join(assets, 'etcd'), args, path.join(folder, 'etcd.log'));
  started.push(etcd);
  await untilReady(etcd, 30, async () => (await fetch(`${clients}/health`)).ok);
  return clients;
}

interface ApiServerParts {
  assets: string;
  folder: string;
  pki: Pki;
  tokens: Server['tokens'];
  etcdUrl: string;
  started: RunningProcess[];
}

async function startApiServer(parts: ApiServerParts): Promise<{ url: string; pid: number }> {
  const { assets, folder, pki, tokens, etcdUrl, started } = parts;
  const file = (name: string) => path.join(folder, name);
  const signing = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  const secret = { mode: 0o600 };
  await Promise.all([
    writeFile(file('ca.crt'), pki.ca),
    writeFile(file('tls.crt'), pki.cert),
    writeFile(file('tls.key'), pki.key, secret),
    writeFile(file('sa.pub'), signing.publicKey),
    writeFile(file('sa.key'), signing.privateKey, secret),
    writeFile(
      file('tokens.csv'),
      `${tokens.admin},admin,1,"system:masters"\n${tokens.nobody},nobody,2\n`,
      secret,
    ),
  ]);
  const port = await freePort();
  const url = `https://127.0.0.1:${port}`;
  const args = [
    `--etcd-servers=${etcdUrl}`,
    '--bind-address=127.0.0.1',
    '--advertise-address=127.0.0.1',
    `--secure-port=${port}`,
    `--cert-dir=${folder}`,
    `--client-ca-file=${file('ca.crt')}`,
    `--tls-cert-file=${file('tls.crt')}`,
    `--tls-private-key-file=${file('tls.key')}`,
    `--token-auth-file=${file('tokens.csv')}`,
    '--authorization-mode=RBAC',
    '--service-cluster-ip-range=10.96.0.0/16',
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-key-file=${file('sa.pub')}`,
    `--service-account-signing-key-file=${file('sa.key')}`,
    '--endpoint-reconciler-type=none',
  ];
  const process = startProcess(
    'kube-apiserver',
    path.join(assets, 'kube-apiserver'),
    args,
    file('apiserver.log'),
  );
  started.push(process);
  const client = new Client({ name: 'reference', url, ca: pki.ca, group: referenceGroup, tokens });
  try {
    const request = {
      method: 'GET',
      path: '/readyz',
      headers: { authorization: `Bearer ${tokens.admin}` },
      body: undefined,
    };
    await untilReady(process, 120, async () => (await client.send(request)).code === 200);
  } finally {
    client.close();
  }
  return { url, pid: process.pid };
}
