import path from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The slowest first, the others by name: the same order on every machine, and no slow file is left for one processor at the end. */
class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const slow = [
      'test/chaos/',
      'test/e2e/',
      'test/contract/',
      'shared/transfer/',
      'functions/',
      'shared/kubernetes/',
    ];
    const rank = ({ moduleId }: TestSpecification) => {
      const found = slow.findIndex((folder) => moduleId.includes(folder));
      return found < 0 ? slow.length : found;
    };
    return files.sort((a, b) => rank(a) - rank(b) || (a.moduleId < b.moduleId ? -1 : 1));
  }
}

// The machines this runs on have two cores; a third fork has something to do while tests wait for programs, timers and deadlines.
export default defineConfig({
  test: {
    pool: 'forks',
    // Node itself runs the files, as it runs the programs: Vite would make each module's imports slower, and take a core of its own at first.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    // Of the files, of what they import, and of the programs that they start.
    env: { NODE_COMPILE_CACHE: path.join(import.meta.dirname, 'node_modules/.cache/compiled') },
    maxWorkers: 3,
    maxConcurrency: 10,
    // For what hangs: a busy machine may take several times as long as a quiet one.
    testTimeout: 60_000 * Number(process.env.ARC_RUNS ?? 1),
    hookTimeout: 120_000,
    teardownTimeout: 10_000,
    sequence: { sequencer: SlowestFirst },
    // Where a project is not isolated, modules are loaded once per process, not once per file: more than half of the time of `unit` otherwise.
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          isolate: false,
          include: [
            '{shared,functions,scripts,examples}/**/*.test.ts',
            'test/{contract,conformance,bench,rig}/**/*.test.ts',
          ],
        },
      },
      {
        extends: true,
        test: { name: 'e2e', isolate: false, include: ['test/{chaos,e2e}/**/*.test.ts'] },
      },
      {
        extends: true,
        test: {
          name: 'cluster',
          include: ['test/cluster/*.test.ts', 'test/cluster/!(knative)/**/*.test.ts'],
        },
      },
      // What takes long or needs much, before a release: databases, packages, upgrades, other people's tools. Each part has machines of its own.
      {
        extends: true,
        test: { name: 'release', fileParallelism: false, include: ['test/release/*.test.ts'] },
      },
      // One cluster holds one installation at a time: each file makes its own, one after the other.
      {
        extends: true,
        test: { name: 'knative', fileParallelism: false, include: ['test/cluster/knative/*.test.ts'] },
      },
    ],
  },
});
