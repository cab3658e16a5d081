/**
 * `npm run -s conformance [filter]`: sends the corpus to a real kube-apiserver and to our API server and compares the
 * answers. The binaries etcd and kube-apiserver are in the folder KUBEBUILDER_ASSETS. Differences go to stderr, the
 * last line of stdout is `{"requests":n,"same":n,"explained":n,"unexplained":n}`; the exit code is 1 if any is left
 * unexplained. A filter is a regular expression on the names of scenarios.
 */
import { explanations, judgeCorpus } from './judge-corpus.ts';
import { startPair } from './pair.ts';
import { countVerdicts, report } from './report.ts';

const assets = process.env.KUBEBUILDER_ASSETS;
if (!assets) {
  console.error('KUBEBUILDER_ASSETS is not set: it names the folder that holds etcd and kube-apiserver');
  process.exit(2);
}
const pair = await startPair(assets);
try {
  const filter = process.argv[2];
  const verdicts = await judgeCorpus(pair, filter === undefined ? undefined : new RegExp(filter));
  report(verdicts, filter === undefined ? explanations : []);
  const counts = countVerdicts(verdicts);
  console.log(JSON.stringify(counts));
  process.exitCode = counts.unexplained === 0 ? 0 : 1;
} finally {
  await pair.stop();
}
