/**
 * `npm run -s conformance [filter]`: sends the corpus to a real kube-apiserver and to our API server and compares the
 * answers. The binaries etcd and kube-apiserver are in the folder KUBEBUILDER_ASSETS. Differences go to stderr, the
 * last line of stdout is `{"requests":n,"same":n,"explained":n,"unexplained":n}`; the exit code is 1 if any is left
 * unexplained. A filter is a regular expression on the names of scenarios.
 */
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { loadPki } from '../../scripts/standalone/pki.ts';
import { Client, type Server } from './client.ts';
import type { Explanation } from './compare.ts';
import { corpus } from './corpus/index.ts';
import { judgeScenario, type Verdict } from './judge.ts';
import { prepare } from './prepare.ts';
import { startReference } from './reference.ts';
import { report } from './report.ts';
import { startSubject } from './subject.ts';

const assets = process.env.KUBEBUILDER_ASSETS;
if (!assets) {
  console.error('KUBEBUILDER_ASSETS is not set: it names the folder that holds etcd and kube-apiserver');
  process.exit(2);
}
const explanations = JSON.parse(
  await readFile(new URL('./explained.json', import.meta.url), 'utf8'),
) as Explanation[];
const filter = new RegExp(process.argv[2] ?? '');
const folder = await mkdtemp(path.join(tmpdir(), 'conformance-'));
const stops: (() => Promise<void>)[] = [() => rm(folder, { recursive: true, force: true })];
try {
  const pki = await loadPki(folder, new Date());
  const token = () => randomBytes(24).toString('hex');
  const tokens: Server['tokens'] = { admin: token(), nobody: token(), wrong: token(), anonymous: '' };
  const subject = await startSubject(path.join(folder, 'ours'), pki, tokens);
  stops.push(subject.stop);
  const reference = await startReference(assets, path.join(folder, 'reference'), pki, tokens);
  stops.push(reference.stop);
  const clients = { ours: new Client(subject.server), reference: new Client(reference.server) };
  stops.push(async () =>
    Object.values(clients).forEach((client) => {
      client.close();
    }),
  );
  await prepare(clients.ours, clients.reference);
  const verdicts: Verdict[] = [];
  for (const [index, scenario] of corpus.entries()) {
    if (!filter.test(scenario.name)) continue;
    verdicts.push(...(await judgeScenario(clients, scenario, `case-${index}`, explanations)));
  }
  const counts = report(verdicts, explanations);
  console.log(JSON.stringify(counts));
  process.exitCode = counts.unexplained === 0 ? 0 : 1;
} finally {
  for (const stop of stops.reverse()) await stop();
}
