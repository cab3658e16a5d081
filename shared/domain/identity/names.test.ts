import { describe, expect, it } from 'vitest';
import { fc } from '#shared/base/testing';
import { artifactWorkflowName, cronWorkflowName, isLabelValue, keyOfName, workflowName } from './names.ts';

const key = '0123456789abcdef';
const rfc1123 = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;

describe('names', () => {
  it.each([
    ['release', `release-${key}`],
    ['Team.Release_1', `team-release-1-${key}`],
    ['...', `order-${key}`],
    ['', `order-${key}`],
    ['x'.repeat(300), `${'x'.repeat(41)}-${key}`],
    [`${'x'.repeat(40)}--y`, `${'x'.repeat(40)}-${key}`],
  ])('of the Order %j is %s', (order, name) => {
    expect(artifactWorkflowName(order, key, false)).toBe(name);
  });

  it('are valid and short enough for every Order, schedule and attempt', () => {
    fc.assert(
      fc.property(
        fc.string({ maxLength: 300 }),
        fc.boolean(),
        fc.integer({ min: 1, max: 9999 }),
        (order, cron, n) => {
          const name = artifactWorkflowName(order, key, cron);
          const argo = workflowName(name, n);
          expect(name).toMatch(rfc1123);
          expect(keyOfName(name)).toBe(key);
          expect(argo).toBe(n === 1 ? name : `${name}-${n}`);
          expect(argo.length).toBeLessThanOrEqual(cron ? 52 : 63);
          expect(isLabelValue(argo)).toBe(true);
        },
      ),
    );
  });

  it('of Workflows made by hand are cut and stay apart', () => {
    const long = 'a'.repeat(250);
    expect(workflowName(long, 2)).toHaveLength(63);
    expect(workflowName(long, 2)).toMatch(rfc1123);
    expect(workflowName(`${long}b`, 2)).not.toBe(workflowName(long, 2));
    expect(cronWorkflowName(long).length).toBeLessThanOrEqual(52);
    expect(keyOfName('by-hand')).toBeUndefined();
  });
});
