import { describe, expect, it } from 'vitest';
import { fc } from '#shared/base/testing';
import type { KubeObject } from '../kinds/definition.ts';
import { kinds } from '../testing/test-server.ts';
import { parseLabelSelector, selectableOf, selection } from './selectors.ts';

const [widget] = kinds;

function object(name: string, labels: Record<string, string> = {}): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Widget',
    metadata: { name, namespace: 'ns', labels },
    spec: { color: 'red' },
  };
}

const key = fc.constantFrom('app', 'tier', 'example.com/part');
const value = fc.constantFrom('a', 'b', '1.0');
const labels = fc.dictionary(key, value);

describe('label selectors', () => {
  it.each([
    ['app=a', { app: 'a' }, { app: 'b' }],
    ['app==a', { app: 'a' }, {}],
    ['app!=a', {}, { app: 'a' }],
    ['app in (a, b)', { app: 'b' }, { app: 'c' }],
    ['app notin (a,b)', {}, { app: 'a' }],
    ['app', { app: '' }, {}],
    ['!app', {}, { app: 'x' }],
    ['example.com/part=x,app', { 'example.com/part': 'x', app: '1' }, { app: '1' }],
    ['app=', { app: '' }, { app: 'a' }],
  ])('%s chooses', (text, matching, other) => {
    const matches = parseLabelSelector(text).holds;
    expect(matches(matching as Record<string, string>)).toBe(true);
    expect(matches(other as Record<string, string>)).toBe(false);
  });

  it.each([
    'a===b',
    'a in',
    'a in (b',
    '=a',
    'a,,b',
    'a b',
    '-x',
    'a=b c',
    `a=${'x'.repeat(64)}`,
    'a in (b))',
    '!',
  ])('refuses %s', (text) => {
    expect(() => parseLabelSelector(text)).toThrowError(expect.objectContaining({ code: 'BadRequest' }));
  });

  it.each<[string, string | undefined]>([
    ['metadata.name=a\\,b', 'a,b'],
    ['metadata.name=a\\=b\\\\', 'a=b\\'],
    ['metadata.name==a,', 'a'],
    [',,metadata.name=a', 'a'],
    ['metadata.name= a', ' a'],
    ['metadata.name=a)', 'a)'],
    ['metadata.name=(a,metadata.namespace=ns', '(a'],
    ['metadata.name!=a', undefined],
    ['', undefined],
  ])('of fields: %s requires %s', (text, name) => {
    expect(widget && selection(widget, '', text).name).toBe(name);
  });

  it.each([
    ['metadata.name=a\\', 'invalid escape sequence: \\'],
    ['metadata.name=a\\b', 'invalid escape sequence: \\b'],
    ['metadata.name=a=b', 'unescaped character in value: 61'],
    ['metadata.name=a,b', "can't understand 'b'"],
    [' metadata.name=a', 'field label not supported:  metadata.name'],
    ['metadata.name\\,x=a', 'field label not supported'],
    ['=a', 'field label not supported: '],
    ['constructor=a', 'field label not supported: constructor'],
  ])('of fields: %s is refused', (text, message) => {
    expect(() => widget && selection(widget, '', text)).toThrowError(
      expect.objectContaining({ code: 'BadRequest', message: expect.stringContaining(message) }),
    );
  });

  it('negated terms select the complement', () => {
    fc.assert(
      fc.property(labels, key, fc.array(value, { minLength: 1 }), (given, name, values) => {
        const list = values.join(',');
        expect(parseLabelSelector(`${name} in (${list})`).holds(given)).toBe(
          !parseLabelSelector(`${name} notin (${list})`).holds(given),
        );
        expect(parseLabelSelector(name).holds(given)).toBe(!parseLabelSelector(`!${name}`).holds(given));
      }),
    );
  });

  it('ignores inherited properties', () => {
    expect(parseLabelSelector('constructor').holds({})).toBe(false);
  });
});

describe('selection', () => {
  it('reports whether everything is selected, and the only name', () => {
    if (!widget) throw new Error('no kind');
    expect(selection(widget, '', '').everything).toBe(true);
    const one = selection(widget, '', 'metadata.name=a,spec.color=red');
    expect(one).toMatchObject({ everything: false, name: 'a' });
    expect(one.matches(selectableOf(widget, object('a')))).toBe(true);
    expect(one.matches(selectableOf(widget, object('b')))).toBe(false);
    expect(selection(widget, '', 'metadata.name!=a').name).toBeUndefined();
    expect(() => selection(widget, '', 'spec.size=1')).toThrowError('field label not supported: spec.size');
  });

  it('has a thousand terms at most, and a term as many values as it likes', () => {
    if (!widget) throw new Error('no kind');
    const terms = (count: number, term: string) => Array.from({ length: count }, () => term).join(',');
    expect(selection(widget, terms(1_000, '!a'), terms(1_000, 'metadata.name!=a')).everything).toBe(false);
    expect(() => selection(widget, terms(1_001, '!a'), '')).toThrowError(
      'the label selector has more than 1000 terms',
    );
    expect(() => selection(widget, '', terms(1_001, 'metadata.name!=a'))).toThrowError(
      'the field selector has more than 1000 terms',
    );
    expect(
      selection(widget, `app in (${terms(2_000, 'a')})`, '').matches(
        selectableOf(widget, object('a', { app: 'a' })),
      ),
    ).toBe(true);
  });
});

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
