import { afterAll, beforeAll, describe } from 'vitest';
import { type Cluster, describeCluster, startCluster } from '../fixtures/cluster/cluster.ts';
import { kubectl, kubectlReleases } from '../fixtures/cluster/kubectl.ts';
import { kubectlCommands } from './kubectl-commands.ts';

describeCluster('through the aggregator', (machine) => {
  let cluster: Cluster;

  beforeAll(async () => {
    cluster = await startCluster(machine, { store: 'embedded' });
  }, 180_000);
  afterAll(() => cluster?.stop(), 60_000);

  const releases = kubectlReleases(machine.assets);
  describe.each(releases)('$name', ({ name, file }) => {
    const namespace = name.replace('.', '-');
    beforeAll(() => cluster.plane.kubectl(['create', 'namespace', namespace]), 60_000);
    kubectlCommands(
      namespace,
      () => kubectl(file, cluster.plane.env),
      () => cluster.plane.folder,
    );
  });
});
