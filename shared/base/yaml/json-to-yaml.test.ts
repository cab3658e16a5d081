import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { fc } from '#shared/base/testing';
import { jsonToYaml } from './json-to-yaml.ts';
import { yamlToJson } from './yaml-to-json.ts';

const written = (value: unknown) => [...jsonToYaml(value)].join('');
const limits = { what: 'the text', characters: 1024 * 1024, depth: 500, size: 3_000_000 };

/** Texts that readers of YAML may take for something else. */
const odd = [
  '',
  ' a',
  'a ',
  'a: b',
  'a #b',
  'a:',
  '- a',
  '-_0',
  '0x1F',
  '1:20',
  '1e3',
  '.5',
  '~',
  'No',
  '2026-01-01',
  '<<',
  '=',
  '---',
]
  .concat([
    'a\nb',
    'a\tb',
    '\u0085',
    '\u2028',
    '\u007f',
    '\ufeff',
    '"',
    "'",
    '{a',
    '[a',
    '&a',
    '*a',
    '!a',
    '|',
    '>',
    '%a',
    '@a',
    '`a',
  ])
  .concat(['a,b', 'a\\b', 'é', '😀', 'nginx:1.25', 'https://a.b/c?d=e&f', 'x'.repeat(3_000)]);
const texts = fc.oneof(fc.constantFrom(...odd), fc.string({ unit: 'binary' }), fc.string());
const { value: values } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    ...[
      texts,
      fc.double({ noDefaultInfinity: true, noNaN: true }),
      fc.maxSafeInteger(),
      fc.boolean(),
      fc.constant(null),
    ],
    ...[
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(texts, tie('value'), { maxKeys: 4, noNullPrototype: true }),
    ],
  ),
}));

describe('jsonToYaml', () => {
  it('writes what readers of YAML read back', async () => {
    await fc.assert(
      fc.asyncProperty(values, async (value) => {
        const wanted = JSON.parse(JSON.stringify(value).replaceAll('"__proto__"', '"proto"')) as unknown;
        const text = written(wanted);
        expect(JSON.parse(await yamlToJson(text, limits))).toEqual(wanted);
        expect(parse(text, { version: '1.1', merge: false })).toEqual(wanted);
      }),
      { examples: odd.map((text) => [{ [text]: [text] }] as [unknown]) },
    );
  });

  it('looks as kubectl shows it', () => {
    const labels = { 'example.com/team': 'a', on: 'yes' };
    const artifacts = [{ type: 'oci', spec: { image: 'nginx:1.25', tags: [] } }, [1, [2, {}]], 'two words'];
    expect(
      written({
        kind: 'Order',
        metadata: { labels, gone: undefined },
        spec: { artifacts, cron: '0 1 * * *' },
      }),
    ).toBe(
      `kind: Order
metadata:
  labels:
    example.com/team: a
    "on": "yes"
spec:
  artifacts:
  - type: oci
    spec:
      image: nginx:1.25
      tags: []
  - - 1
    - - 2
      - {}
  - two words
  cron: "0 1 * * *"
`,
    );
  });

  it('comes in pieces, and makes items of a list when it writes them', () => {
    let made = 0;
    const items = (function* () {
      for (; made < 1_000; made += 1) yield { name: `item-${made}`, text: 'x'.repeat(100) };
    })();
    const seen: number[] = [];
    for (const piece of jsonToYaml({ items })) {
      expect(piece.length).toBeLessThan(40_000);
      seen.push(made);
    }
    expect(seen.length).toBeGreaterThan(3);
    expect(seen[0]).toBeLessThan(300);
  });
});
