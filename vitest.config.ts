import { defineConfig } from 'vitest/config';

// Two forks: the machines this runs on have two cores, and every suite under test/ starts real servers.
export default defineConfig({
  test: {
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 20_000 * Number(process.env.ARC_RUNS ?? 1),
    hookTimeout: 40_000,
    teardownTimeout: 10_000,
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: [
            '{shared,functions,scripts,examples}/**/*.test.ts',
            'test/{contract,chaos,e2e,conformance,bench}/**/*.test.ts',
          ],
        },
      },
      {
        extends: true,
        test: {
          name: 'cluster',
          include: ['test/cluster/*.test.ts', 'test/cluster/!(knative)/**/*.test.ts'],
        },
      },
      // One cluster holds one installation at a time: each file makes its own, one after the other.
      {
        extends: true,
        test: { name: 'knative', fileParallelism: false, include: ['test/cluster/knative/*.test.ts'] },
      },
    ],
  },
});
