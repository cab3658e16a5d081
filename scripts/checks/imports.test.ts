import { describe, expect, it } from 'vitest';
import { violationOf } from './imports.ts';

describe('the import rule', () => {
  it.each([
    ['functions/a/index.ts', '#shared/domain'],
    ['functions/a/index.ts', './logic.ts'],
    ['functions/a/index.ts', 'hono'],
    ['scripts/start.ts', '../functions/a/index.ts'],
    ['shared/local/broker/x.ts', '#shared/kubernetes/apiserver'],
    ['shared/kubernetes/apiserver/a.ts', './representation/index.ts'],
    ['shared/domain/x.ts', '#shared/base/errors'],
    ['examples/a/x.ts', '#shared/kubernetes/apiserver'],
  ])('lets %s import %s', (file, target) => {
    expect(violationOf(file, target)).toBeUndefined();
  });

  it.each([
    ['functions/a/index.ts', '../b/index.ts', 'each other'],
    ['functions/a/index.ts', '../../scripts/start.ts', 'scripts'],
    ['functions/a/index.ts', '../../shared/domain/plan/plan.ts', 'door'],
    ['shared/domain/x.ts', '#shared/kubernetes/client', 'may import only'],
    ['shared/kubernetes/storage/x.ts', '#shared/kubernetes/apiserver', 'may import only'],
    ['shared/kubernetes/client/x.ts', '../../../functions/a/index.ts', 'bottom'],
    ['functions/a/index.ts', '../../test/fixtures/x.ts', 'test/'],
    ['examples/a/x.ts', '../../functions/b/index.ts', 'doors of shared'],
  ])('refuses that %s imports %s', (file, target, why) => {
    expect(violationOf(file, target)).toContain(why);
  });
});
