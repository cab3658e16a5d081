import { describe, expect, it } from 'vitest';
import { parseLabelSelector } from './label-selector.ts';

const holds = (selector: string, labels: Record<string, string>) =>
  parseLabelSelector(selector).holds(labels);

describe('parseLabelSelector', () => {
  it.each([
    ['n>2', { n: '3' }, true],
    ['n>2', { n: '2' }, false],
    ['n<2', { n: '-1' }, true],
    ['n<2', { n: 'x' }, false],
    ['n<2', {}, false],
    ['a in ()', { a: '' }, true],
    ['a in (b,)', { a: '' }, true],
    ['in in (in, notin)', { in: 'notin' }, true],
    ['a=,b', { a: '', b: 'x' }, true],
  ])('%s of %o is %s', (selector, labels, expected) => {
    expect(holds(selector, labels as Record<string, string>)).toBe(expected);
  });

  it.each([
    ['a=b,', "found '', expected: identifier after ','"],
    [',a=b', "found ',', expected: !, identifier, or 'end of string'"],
    ['a=b=c', "found '=', expected: ',' or 'end of string'"],
    ['a in b', "unable to parse requirement: found 'b' expected: '('"],
    ['a in (b', "unable to parse requirement: found '', expected: ',' or ')'"],
    ['a b', "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"],
    ['!', "unable to parse requirement: found '', expected: identifier"],
    ['n>x', "unable to parse requirement: values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators"],
    ['-a', 'unable to parse requirement: <nil>: Invalid value: "-a": name part'],
    ['a=-b', 'unable to parse requirement: values[0][a]: Invalid value: "-b": a valid label'],
  ])('refuses %s', (selector, message) => {
    expect(() => parseLabelSelector(selector)).toThrow(message);
  });
});
