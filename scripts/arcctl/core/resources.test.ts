import { describe, expect, it } from 'vitest';
import { artifactWorkflows, endpoints, orders } from '#shared/domain';
import { orderName, parseSelection } from './resources.ts';
import { durationOf, requestTimeout, warningsIn } from './session.ts';

describe('the words after a verb', () => {
  it.each([
    [[], orders, []],
    [['ord'], orders, []],
    [['orders.arc.opendefense.cloud', 'a', 'b'], orders, ['a', 'b']],
    [['ArtifactWorkflow', 'a'], artifactWorkflows, ['a']],
    [['aw/a', 'artifactworkflows/b'], artifactWorkflows, ['a', 'b']],
    [['aep'], endpoints, []],
  ])('%j', (words, kind, names) => {
    expect(parseSelection(words)).toEqual({ kind, names });
  });

  it.each([
    [['pods'], 'unknown kind "pods": use one of orders,'],
    [['ordrs'], 'did you mean orders? Known kinds: orders,'],
    [['order/a', 'aw/b'], 'must be of one kind'],
    [['orders', 'order/a'], 'not both'],
    [['order/'], 'write KIND/NAME'],
    [['order/a/b'], 'write KIND/NAME'],
  ])('%j is refused', (words, message) => {
    expect(() => parseSelection(words)).toThrow(message);
  });

  it('name an Order with and without its kind', () => {
    expect([orderName('a'), orderName('order/a')]).toEqual(['a', 'a']);
    expect(() => orderName('aw/a')).toThrow('is not an Order');
  });
});

describe('durations and warnings', () => {
  it('takes seconds and Go durations', () => {
    expect([durationOf('30', '-t'), durationOf('1m30s', '-t')]).toEqual([30_000, 90_000]);
    expect(() => durationOf('soon', '--timeout')).toThrow('--timeout "soon": give a duration');
    expect(() => durationOf('-1s', '--timeout')).toThrow('give a duration');
    expect(requestTimeout('0')).toBeGreaterThan(10 ** 9);
    expect(requestTimeout(undefined)).toBeUndefined();
  });

  it('reads every text of a Warning header', () => {
    expect(warningsIn('299 - "one", 299 arc "say \\"two\\""')).toEqual(['one', 'say "two"']);
    expect(warningsIn('')).toEqual([]);
  });
});
