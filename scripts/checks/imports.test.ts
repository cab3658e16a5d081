import { describe, expect, it } from 'vitest';
import { violationOf } from './imports.ts';

describe('the import rule', () => {
  it.each([
    ['functions/a/index.ts', '#shared/domain'],
    ['functions/a/index.ts', './logic.ts'],
    ['functions/a/index.ts', 'hono'],
    ['scripts/start.ts', '../functions/a/index.ts'],
    ['shared/embedded/broker/x.ts', '#shared/apiserver'],
    ['shared/apiserver/a.ts', './representation/index.ts'],
    ['shared/domain/x.ts', '#shared/errors'],
    ['examples/a/x.ts', '#shared/apiserver'],
  ])('lets %s import %s', (file, target) => {
    expect(violationOf(file, target)).toBeUndefined();
  });

  it.each([
    ['functions/a/index.ts', '../b/index.ts', 'each other'],
    ['functions/a/index.ts', '../../scripts/start.ts', 'scripts'],
    ['functions/a/index.ts', '../../shared/domain/plan/plan.ts', 'door'],
    ['shared/domain/x.ts', '#shared/kube', 'may import only'],
    ['shared/storage/x.ts', '#shared/apiserver', 'may import only'],
    ['shared/kube/x.ts', '../../functions/a/index.ts', 'bottom'],
    ['functions/a/index.ts', '../../test/fixtures/x.ts', 'test/'],
    ['examples/a/x.ts', '../../functions/b/index.ts', 'doors of shared'],
  ])('refuses that %s imports %s', (file, target, why) => {
    expect(violationOf(file, target)).toContain(why);
  });
});
