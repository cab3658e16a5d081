import { createHash, randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { chartYaml, packChart } from '../../../shared/transfer/testing/charts.ts';
import { startRegistryProcess } from '../../fixtures/image/registry-tools.ts';
import { startNginx } from '../../fixtures/servers/nginx.ts';
import { report } from '../measure/report.ts';
import type { Workers } from './worker.ts';

const fileBytes = 64 * 1024;

/** Measures `count` transfers in the pool: half are charts of a repository with an index, half are files of a web server, all to a registry. */
export async function measureManyJobs(
  registryTools: string,
  name: string,
  count: number,
  workers: Workers,
): Promise<void> {
  const web = await startNginx('/usr/sbin/nginx', '');
  const registry = await startRegistryProcess(registryTools);
  try {
    const data = path.join(web.folder, 'data');
    const half = Array.from({ length: count / 2 }, (_, index) => `item-${index}`);
    const entries: string[] = [];
    for (const each of half) {
      await writeFile(path.join(data, `${each}.bin`), randomBytes(fileBytes));
      const tgz = await packChart(
        { 'Chart.yaml': chartYaml(each, '1.0.0'), 'templates/a.yaml': 'kind: A\n' },
        { folder: each },
      );
      await writeFile(path.join(data, `${each}.tgz`), tgz);
      const digest = createHash('sha256').update(tgz).digest('hex');
      entries.push(`  ${each}:
  - apiVersion: v2
    name: ${each}
    version: 1.0.0
    digest: ${digest}
    urls:
    - ${each}.tgz
`);
    }
    await writeFile(path.join(data, 'index.yaml'), `apiVersion: v1\nentries:\n${entries.join('')}`);
    const job = (type: string, source: string, spec: object) => ({
      artifact: { type, spec },
      source: { name: 'web', type: source, remoteURL: `http://127.0.0.1:${web.port}` },
      destination: { name: 'registry', type: 'oci', remoteURL: `http://${registry.host}` },
    });
    const charts = half.map((chart) => job('helm', 'helm', { chart, version: '1.0.0' }));
    const files = half.map((each) =>
      job('file', 'http', { path: `${each}.bin`, override: `files/${each}:1` }),
    );
    for (const [what, jobs] of Object.entries({ charts, files })) {
      const cost = await workers.runAll(jobs);
      const each = { bench: 'transfer', n: jobs.length, less: true };
      report({
        ...each,
        case: `${name}, ${what}, CPU each`,
        ours: (cost.cpuSeconds / jobs.length) * 1000,
        unit: 'ms of CPU',
      });
      report({
        ...each,
        case: `${name}, ${what}, seconds each`,
        ours: (cost.seconds / jobs.length) * 1000,
        unit: 'ms',
      });
      report({ ...each, case: `${name}, ${what}, peakMebibytes`, ours: cost.peakMebibytes, unit: 'MiB' });
    }
  } finally {
    await registry.stop();
    await web.stop();
  }
}
