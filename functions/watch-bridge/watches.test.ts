import { describe, expect, it } from 'vitest';
import { ArcError } from '#shared/base/errors';
import { failureMessage } from './watches.ts';

describe('failureMessage', () => {
  const kind = { kind: 'Workflow', apiVersion: 'argoproj.io/v1alpha1' };

  it('asks whether a kind is installed only when the server answers 404 for the kind', () => {
    const said = (code: ConstructorParameters<typeof ArcError>[0], details = {}) =>
      failureMessage(kind, new ArcError(code, 'x', { details }));
    expect(said('NotFound')).toContain('not installed?');
    for (const code of ['ServiceUnavailable', 'Timeout'] as const)
      expect(said(code)).toBe('cannot watch Workflow: the API server cannot be reached; retrying');
    expect(said('NotFound', { name: 'workflows' })).toBe('cannot watch Workflow; retrying');
    expect(said('Forbidden')).toBe('cannot watch Workflow; retrying');
  });
});
