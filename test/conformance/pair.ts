import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { KindDefinition } from '#shared/kubernetes/apiserver';
import { loadPki } from '../../scripts/standalone/pki.ts';
import { Client, type Server } from './client.ts';
import { prepare } from './prepare.ts';
import { startReference } from './reference.ts';
import { startSubject } from './subject.ts';

/** Our server and a real kube-apiserver, each with our kinds, state and tokens of their own. */
export interface Pair {
  ours: Client;
  reference: Client;
  stop(): Promise<void>;
}

/**
 * Starts both and waits until they serve. `more` are kinds of our group beside those of ARC.
 * @param assets the folder that holds etcd and kube-apiserver
 */
export async function startPair(assets: string, more: readonly KindDefinition[] = []): Promise<Pair> {
  const folder = await mkdtemp(path.join(tmpdir(), 'conformance-'));
  const stops: (() => Promise<void> | void)[] = [() => rm(folder, { recursive: true, force: true })];
  const stop = async () => {
    for (const one of stops.reverse()) await one();
  };
  try {
    const pki = await loadPki(folder, new Date());
    const token = () => randomBytes(24).toString('hex');
    const tokens: Server['tokens'] = { admin: token(), nobody: token(), wrong: token(), anonymous: '' };
    const subject = await startSubject(path.join(folder, 'ours'), pki, tokens, more);
    stops.push(subject.stop);
    const reference = await startReference(assets, path.join(folder, 'reference'), pki, tokens);
    stops.push(reference.stop);
    const clients = { ours: new Client(subject.server), reference: new Client(reference.server) };
    stops.push(
      () => clients.ours.close(),
      () => clients.reference.close(),
    );
    await prepare(clients.ours, clients.reference, more);
    return { ...clients, stop };
  } catch (caught) {
    await stop();
    throw caught;
  }
}
