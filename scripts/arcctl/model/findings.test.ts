import { expect, it } from 'vitest';
import { certificateFinding, conditionFinding } from './findings.ts';

it('a condition that is not True is a finding with its reason and the command that mends it', () => {
  const ready = { type: 'Ready', status: 'True', message: 'all is well' };
  expect(conditionFinding('x', [ready], 'Ready', 'fix')).toEqual({
    check: 'x',
    state: 'ok',
    message: 'all is well',
  });
  const broken = { type: 'Ready', status: 'False', reason: 'NoPods', message: 'none' };
  expect(conditionFinding('x', [broken], 'Ready', 'fix')).toEqual({
    check: 'x',
    state: 'bad',
    message: 'NoPods: none',
    fix: 'fix',
  });
  expect(conditionFinding('x', [], 'Ready', 'fix').state).toBe('bad');
});

it('a certificate is judged by the time that is left', () => {
  const now = new Date('2026-01-01T00:00:00Z');
  const stateAt = (validTo: string) => certificateFinding('x', new Date(validTo), now, 'fix').state;
  expect(['2027-01-01', '2026-01-10', '2025-12-31', 'never'].map(stateAt)).toEqual([
    'ok',
    'warn',
    'bad',
    'bad',
  ]);
});
