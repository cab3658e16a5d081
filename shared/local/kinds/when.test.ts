import { describe, expect, it } from 'vitest';
import { parseWhen, type WhenInput } from './when.ts';

const hour = 3_600_000;
const now = Date.parse('2026-01-02T03:00:00Z');
const input: WhenInput = { failed: 1, succeeded: 3, lastScheduledTime: now - 24 * hour, now };
const first: WhenInput = { ...input, failed: 0, succeeded: 0, lastScheduledTime: undefined };
const evaluate = (text: string, seen = input) => parseWhen(`{{= ${text} }}`)(seen);

describe('parseWhen', () => {
  it.each<[string, boolean]>([
    ['true', true],
    ['not true or false', false],
    ['cronworkflow.failed < 2 && cronworkflow.succeeded >= 3', true],
    ['cronworkflow.failed == 0 || cronworkflow.succeeded == 4', false],
    ['(now() - cronworkflow.lastScheduledTime).Hours() > 20', true],
    ['(now() - cronworkflow.lastScheduledTime).Minutes() == 1440', true],
    ['(now() - cronworkflow.lastScheduledTime).Seconds() < 86400', false],
    ['!(cronworkflow.failed != 1)', true],
    ['1 + 2 - 3 == 0', true],
    ['-1 < 0 and 0.5 <= 1', true],
    ['true || false && false', true],
  ])('evaluates %s to %s', (text, expected) => {
    expect(evaluate(text)).toBe(expected);
  });

  it('takes the example of the API for a schedule that has not run', () => {
    const text =
      'cronworkflow.lastScheduledTime == nil || (now() - cronworkflow.lastScheduledTime).Hours() > 20';
    expect(evaluate(text, first)).toBe(true);
    expect(evaluate(text, { ...first, lastScheduledTime: now - hour })).toBe(false);
  });

  it.each(['1', 'nil > 1', 'now() > 1', 'now() + now() == 1', 'now().Hours() > 1', 'true > false'])(
    'refuses to decide by %s',
    (text) => {
      expect(() => evaluate(text)).toThrow(/^when: /);
    },
  );

  it.each([
    '1 == 1',
    '{{= }}',
    '{{= (true }}',
    '{{= true) }}',
    '{{= len("x") == 1 }}',
    '{{= true true }}',
    '{{= 1 == }}',
  ])('does not parse %s', (text) => {
    expect(() => parseWhen(text)).toThrow(/^when: /);
  });
});
