import { describe, expect, it } from 'vitest';
import { lazyDocument, respondDocument } from './document.ts';

const document = lazyDocument(() => ({ a: 1 }));

describe('lazyDocument', () => {
  it('makes the document once, at the first call', () => {
    let made = 0;
    const lazy = lazyDocument(() => {
      made += 1;
      return { made };
    });
    expect(made).toBe(0);
    expect(lazy()).toBe(lazy());
    expect(made).toBe(1);
  });
  it('hashes its body', () => {
    expect(lazyDocument(() => ({ a: 1 }))().hash).toBe(document().hash);
    expect(lazyDocument(() => ({ a: 2 }))().hash).not.toBe(document().hash);
  });
});

describe('respondDocument', () => {
  const ask = (headers: Record<string, string>) =>
    respondDocument(new Request('http://x/', { headers }), document(), 'application/json', {
      Vary: 'Accept',
    });

  it('responds with type, quoted ETag and additional headers', async () => {
    const response = ask({});
    expect(response.status).toBe(200);
    expect(response.headers.get('ETag')).toBe(`"${document().hash}"`);
    expect(response.headers.get('Vary')).toBe('Accept');
    expect(await response.json()).toEqual({ a: 1 });
  });
  it('responds 304 to a client with the current ETag, otherwise with the document', () => {
    const etag = `"${document().hash}"`;
    for (const known of [etag, `"x", ${etag}`, `W/${etag}`, '*']) {
      expect(ask({ 'If-None-Match': known }).status).toBe(304);
    }
    for (const other of ['"x"', document().hash, ''])
      expect(ask({ 'If-None-Match': other }).status).toBe(200);
  });
});
