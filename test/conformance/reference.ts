import { generateKeyPairSync } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Pki } from '../../scripts/standalone/pki.ts';
import { eventually } from '../../shared/base/testing/eventually.ts';
import { startEtcd } from '../fixtures/etcd/process.ts';
import { freePorts, type Program, start } from '../fixtures/program.ts';
import { Client, type Server } from './client.ts';

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
  const etcd = await startEtcd(path.join(assets, 'etcd'));
  try {
    const { url, apiServer } = await startApiServer({ assets, folder, pki, tokens, etcd: etcd.endpoint });
    return {
      server: { name: 'reference', url, ca: pki.ca, group: referenceGroup, tokens },
      pid: apiServer.child.pid ?? 0,
      async stop() {
        await apiServer.stop();
        await etcd.stop();
      },
    };
  } catch (caught) {
    await etcd.stop();
    throw caught;
  }
}

interface ApiServerParts {
  assets: string;
  folder: string;
  pki: Pki;
  tokens: Server['tokens'];
  /** Its address. */
  etcd: string;
}

async function startApiServer(parts: ApiServerParts): Promise<{ url: string; apiServer: Program }> {
  const { assets, folder, pki, tokens, etcd } = parts;
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
  const [port] = await freePorts(1);
  const url = `https://127.0.0.1:${port}`;
  const args = [
    `--etcd-servers=${etcd}`,
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
  const apiServer = start(path.join(assets, 'kube-apiserver'), args);
  const client = new Client({ name: 'reference', url, ca: pki.ca, group: referenceGroup, tokens });
  try {
    const headers = { authorization: `Bearer ${tokens.admin}` };
    await eventually('kube-apiserver to be ready', 120_000, async () => {
      apiServer.mustRun();
      const { code, text } = await client.send({ method: 'GET', path: '/readyz', headers, body: undefined });
      if (code !== 200) throw new Error(`${code} ${text}`);
    });
  } catch (caught) {
    await apiServer.stop();
    throw caught;
  } finally {
    client.close();
  }
  return { url, apiServer };
}
