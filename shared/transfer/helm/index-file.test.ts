import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { fc } from '#shared/base/testing';
import { TransferError } from '../errors/transfer-error.ts';
import { transferFailure } from '../testing/transfer-failure.ts';
import { chartEntries, indexedChart } from './index-file.ts';

const sha = 'ab'.repeat(32);
const helmStyle = `# made by a tool
apiVersion: v1
entries:
  demo:
  - apiVersion: v2
    created: "2024-01-01T00:00:00Z"
    deprecated: true
    description: |
      version: 99.0.0
      name: other
    digest: ${sha}
    name: demo
    urls:
    - https://charts.example.com/demo-1.1.0.tgz
    version: 1.1.0
  # a comment at the left
  - name: demo
    removed: true

    version: "1.0.0" # the first
    urls: [demo-1.0.0.tgz]
  demo-two:
  - name: demo-two
    version: '3.0.0'
    urls:
    - two.tgz
generated: "2024-01-01T00:00:00Z"
serverInfo:
  nothing: {}
`;

async function entries(text: string, chart = 'demo') {
  return chartEntries(Buffer.from(text), chart, 'of repo');
}

/** All that an index says of a chart, by the names that tests use. */
async function read(text: string, chart = 'demo') {
  const list = await entries(text, chart);
  return Promise.all(
    list.map(async (entry) => ({
      ...(await indexedChart(entry, chart, 'of repo')),
      deprecated: entry.deprecated,
      removed: entry.removed,
    })),
  );
}

describe('an index', () => {
  const both = [
    {
      name: 'demo',
      version: '1.1.0',
      url: 'https://charts.example.com/demo-1.1.0.tgz',
      digest: sha,
      deprecated: true,
      removed: false,
    },
    {
      name: 'demo',
      version: '1.0.0',
      url: 'demo-1.0.0.tgz',
      digest: undefined,
      deprecated: false,
      removed: true,
    },
  ];
  const value = {
    apiVersion: 'v1',
    entries: {
      demo: [
        { name: 'demo', version: '1.1.0', urls: [both[0]?.url], digest: `SHA256:${sha}`, deprecated: true },
        { name: 'demo', version: '1.0.0', urls: ['demo-1.0.0.tgz'], removed: true },
      ],
    },
  };

  it.each([
    ['as Helm writes it', helmStyle],
    ['with lists to the right', stringify(value, { indentSeq: true })],
    ['with lines of Windows', helmStyle.replaceAll('\n', '\r\n')],
    ['with keys in quotes', helmStyle.replace('  demo:', '  "demo":')],
    ['as JSON', JSON.stringify(value)],
    ['in flow style', `apiVersion: v1\nentries: ${JSON.stringify(value.entries)}\n`],
    ['with flow style inside', `apiVersion: v1\nentries:\n  demo: ${JSON.stringify(value.entries.demo)}\n`],
  ])('is read %s', async (_, text) => {
    expect(await read(text)).toEqual(both);
  });

  it('distinguishes charts whose names have a common prefix', async () => {
    expect((await entries(helmStyle, 'demo-two')).map(({ version }) => version)).toEqual(['3.0.0']);
  });

  it('is read quickly with 40 MB of other charts', async () => {
    const other = (name: string) =>
      `  ${name}:\n${`  - name: ${name}\n    version: 1.0.0\n    description: ${'x'.repeat(900)}\n`.repeat(10)}`;
    const many = Array.from({ length: 4000 }, (_, at) => other(`chart-${at}`)).join('');
    const text = helmStyle.replace('  demo:', `${many}  demo:`);
    expect(await read(text)).toEqual(both);
  });

  it.each([
    ['', /no field "entries"/],
    ['<html>', /no field "entries"|cannot be used/],
    ['{', /it is not JSON/],
    ['apiVersion: v1\nentries: {}\n', /Chart demo is not in the index/],
    [
      'apiVersion: v1\nentries:\n  other:\n  - name: other\n    version: 1.0.0\n',
      /Chart demo is not in the index/,
    ],
    ['entries:\n  demo: 5\n', /is not a list/],
  ])('that is %j is refused', async (text, message) => {
    expect(await transferFailure(entries(text))).toMatchObject({
      reason: 'permanent',
      message: expect.stringMatching(message),
    });
  });

  it.each([
    ['names another chart', 'name: other\nversion: 1.0.0\nurls: [a]', /names another chart/],
    ['has no URL', 'name: demo\nversion: 1.0.0', /no URL/],
    ['has a digest of another kind', 'name: demo\nversion: 1.0.0\nurls: [a]\ndigest: abc', /not a SHA-256/],
    ['is broken', 'name: demo\nversion: 1.0.0\nurls: [a', /cannot be used/],
    ['has an alias to elsewhere', 'name: demo\nversion: 1.0.0\nurls: *x', /anchor/],
  ])('whose entry %s is refused', async (_, entry, message) => {
    const text = `entries:\n  demo:\n  - ${entry.replaceAll('\n', '\n    ')}\n`;
    expect(await transferFailure(read(text))).toMatchObject({
      reason: 'permanent',
      message: expect.stringMatching(message),
    });
  });

  it('of endless lines takes linear time', async () => {
    const text = `entries:\n  demo:\n  - name: demo\n    version: 1${' '.repeat(1_000_000)}x\n    urls: [a]\n`;
    expect(await entries(text)).toHaveLength(1);
  });

  it('of any style has the entries of the parsed document', async () => {
    const word = fc.stringMatching(/^[a-z][a-z0-9-]{0,8}$/);
    const entry = fc.record({
      description: fc.string(),
      version: fc.tuple(fc.nat(9), fc.nat(9), fc.nat(9)).map((parts) => parts.join('.')),
      annotations: fc.dictionary(word, fc.string()),
      deprecated: fc.boolean(),
    });
    const charts = fc.dictionary(word, fc.array(entry, { minLength: 1, maxLength: 4 }), { minKeys: 1 });
    await fc.assert(
      fc.asyncProperty(charts, fc.boolean(), async (all, indentSeq) => {
        const named = Object.fromEntries(
          Object.entries(all).map(([name, list]) => [
            name,
            list.map((one) => ({ ...one, name, urls: [`${name}.tgz`] })),
          ]),
        );
        const text = stringify(
          { apiVersion: 'v1', entries: named, generated: 'now' },
          { indentSeq, version: '1.1' },
        );
        for (const [name, list] of Object.entries(named))
          expect((await read(text, name)).map(({ version, deprecated }) => [version, deprecated])).toEqual(
            list.map(({ version, deprecated }) => [version, deprecated]),
          );
      }),
      { numRuns: 60 },
    );
  });

  it('of any bytes ends in a TransferError or in entries', async () => {
    const piece = fc.constantFrom(
      'entries:',
      '  demo:',
      '  - ',
      'name: demo',
      'version: 1',
      '    ',
      '- ',
      '{',
      '}',
      '"',
      '&a ',
      '*a',
      '|',
      '#',
      '\n',
      '\t',
      ': ',
      'é',
    );
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 40 }), async (parts) => {
        const caught = await read(parts.join('')).then(
          () => undefined,
          (error: unknown) => error,
        );
        if (caught !== undefined) expect(caught).toBeInstanceOf(TransferError);
      }),
      { numRuns: 200 },
    );
  });
});
