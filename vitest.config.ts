import { defineConfig } from 'vitest/config';

// Two forks: the machines this runs on have two cores, and every suite under test/ starts real servers.
export default defineConfig({
  test: {
    include: ['shared/**/*.test.ts', 'functions/**/*.test.ts', 'scripts/**/*.test.ts', 'test/**/*.test.ts'],
    exclude: ['test/cluster/**', 'test/soak/**', 'node_modules/**'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 20_000,
    hookTimeout: 30_000,
    teardownTimeout: 10_000,
  },
});
