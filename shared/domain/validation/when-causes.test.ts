import { describe, expect, it } from 'vitest';
import { whenCauses } from './when-causes.ts';

describe('whenCauses', () => {
  it.each([
    '',
    '{{= cronworkflow.lastScheduledTime == nil || (now() - cronworkflow.lastScheduledTime).Seconds() > 360 }}',
    '{{=cronworkflow.failed<3 && !(cronworkflow.succeeded >= 10)}}',
    '{{= cronworkflow.failed == 0 or cronworkflow.succeeded != 2.5 }}',
  ])('accepts %s', (when) => expect(whenCauses('spec.cron.when', when)).toEqual([]));

  it.each([
    ['{{= sprig.env("HOME") == "x" }}', 'may hold only'],
    ['{{= repeat("a", 1000000000) == "" }}', 'may hold only'],
    ['{{= cronworkflow.annotations["a"] == nil }}', 'may hold only'],
    ['{{= cronworkflow.failedx == 0 }}', 'may hold only'],
    ['{{= 10000000000 > 0 }}', 'may hold only'],
    ["{{cronworkflow.name}} == 'a'", 'one expression in braces'],
    ['1 == 1', 'one expression in braces'],
    ['{{= 1 == 1 }}{{= sprig.env("A") }}', 'one expression in braces'],
    ['{{= (1 == 1 }}', 'parentheses'],
    ['{{= 1) == (1 }}', 'parentheses'],
    [`{{= ${'('.repeat(300)} }}`, 'at most 256 characters'],
  ])('refuses %s', (when, part) => {
    const [cause, ...more] = whenCauses('spec.cron.when', when);
    expect(cause).toMatchObject({ field: 'spec.cron.when', message: expect.stringContaining(part) });
    expect(cause?.message.length).toBeLessThan(300);
    expect(more).toEqual([]);
  });
});
