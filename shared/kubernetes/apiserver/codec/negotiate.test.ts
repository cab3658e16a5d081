import { describe, expect, it } from 'vitest';
import { ArcError } from '#shared/base/errors';
import { fc } from '#shared/base/testing';
import { negotiate, parseAccept } from './negotiate.ts';

const kubectlTable =
  'application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json';

function refusal(run: () => unknown): ArcError {
  try {
    run();
  } catch (caught) {
    return ArcError.from(caught);
  }
  throw new Error('it was accepted');
}

describe('negotiate', () => {
  it.each([null, undefined, '', '*/*', '*', 'application/*', 'application/json', 'text/html,*/*;q=0.8'])(
    'answers JSON to %s',
    (accept) => {
      expect(negotiate(accept, 'x/1')).toEqual({
        format: 'json',
        contentType: 'application/json',
        as: undefined,
        pretty: false,
      });
    },
  );

  it('skips protobuf when JSON follows', () => {
    expect(negotiate('application/vnd.kubernetes.protobuf,application/json', '').format).toBe('json');
    expect(negotiate('application/vnd.kubernetes.protobuf, */*', '').format).toBe('json');
    expect(negotiate('application/cbor;q=1, application/yaml;q=0.9', '').format).toBe('yaml');
  });

  it('refuses protobuf alone and lists the types offered', () => {
    const error = refusal(() => negotiate('application/vnd.kubernetes.protobuf', ''));
    expect(error.code).toBe('NotAcceptable');
    expect(error.message).toContain('application/json, application/yaml');
  });

  it('turns objects into Tables and partial objects of v1', () => {
    expect(negotiate(kubectlTable, '').as).toBe('Table');
    for (const as of ['PartialObjectMetadata', 'PartialObjectMetadataList']) {
      expect(
        negotiate(
          `application/vnd.kubernetes.protobuf;as=${as};g=meta.k8s.io;v=v1,application/json;as=${as};g=meta.k8s.io;v=v1,application/json`,
          '',
        ).as,
      ).toBe(as);
    }
  });

  it('takes the next entry instead of v1beta1 Tables, unknown kinds and other groups', () => {
    for (const first of [
      'as=Table;v=v1beta1;g=meta.k8s.io',
      'as=Chair;v=v1;g=meta.k8s.io',
      'as=Table;v=v1;g=other',
    ]) {
      expect(negotiate(`application/json;${first},application/json`, '').as).toBeUndefined();
      expect(refusal(() => negotiate(`application/json;${first}`, '')).code).toBe('NotAcceptable');
    }
  });

  it('goes by quality, not by order', () => {
    expect(negotiate('application/json;q=0.1,application/yaml', '').format).toBe('yaml');
  });

  it.each(['application/yaml', 'text/yaml', 'application/x-yaml'])('returns YAML for %s', (accept) => {
    expect(negotiate(accept, '')).toMatchObject({ format: 'yaml', contentType: 'application/yaml' });
  });

  it.each([
    ['curl/8.1', true],
    ['Wget/1.2', true],
    ['Mozilla/5.0 (X11)', true],
    ['kubectl/v1.34.2', false],
    ['Go-http-client/2.0', false],
  ])('indents for %s: %s', (agent, pretty) => {
    expect(negotiate('*/*', agent).pretty).toBe(pretty);
  });

  it('indents if the entry has pretty=1', () => {
    expect(negotiate('application/json;pretty=1', '').pretty).toBe(true);
  });

  it('streams JSON lines only', () => {
    expect(negotiate('application/json;stream=watch', 'curl/8', { stream: true }).pretty).toBe(false);
    const error = refusal(() => negotiate('application/yaml', '', { stream: true }));
    expect(error.message).not.toContain('yaml');
  });
});

const types = (header: string | null) => parseAccept(header).map((entry) => entry.type);

describe('parseAccept', () => {
  it('treats a missing or empty header as anything', () => {
    for (const header of [null, undefined, '', ' , ']) expect(parseAccept(header)[0]?.type).toBe('*/*');
  });

  it('orders by quality, then the exact before the wildcard, then as written', () => {
    expect(types('*/*, b/b, a/a;q=0.5, c/*, d/d')).toEqual(['b/b', 'd/d', 'c/*', '*/*', 'a/a']);
  });

  it('drops entries with quality 0', () => {
    expect(types('a/a;q=0, b/b;q=0.1')).toEqual(['b/b']);
    expect(types('a/a;q=0')).toEqual([]);
  });

  it('reads parameters with blanks, quotes and capital names', () => {
    const [entry] = parseAccept('Application/JSON ; AS="Table" ; v = v1;flag');
    expect(entry?.type).toBe('application/json');
    expect([...(entry?.parameters ?? [])]).toEqual([
      ['as', 'Table'],
      ['v', 'v1'],
    ]);
  });

  it('never throws, and always returns sorted entries', () => {
    fc.assert(
      fc.property(fc.string(), (header) => {
        const qualities = parseAccept(header).map((entry) => entry.quality);
        expect(qualities).toEqual(qualities.toSorted((a, b) => b - a));
      }),
    );
  });
});
