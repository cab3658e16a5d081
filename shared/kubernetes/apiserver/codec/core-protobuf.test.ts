import { describe, expect, it } from 'vitest';
import { ArcError } from '#shared/base/errors';
import { fc } from '#shared/base/testing';
import { decodeCore } from './core-protobuf.ts';

/** A length-delimited field. */
function bytes(number: number, content: Uint8Array | string): Buffer {
  const body = Buffer.from(content);
  return Buffer.concat([Buffer.from([(number << 3) | 2, body.length]), body]);
}

const entry = (key: string, value: string) => Buffer.concat([bytes(1, key), bytes(2, value)]);

function envelope(kind: string, ...fields: Buffer[]): Buffer {
  const typeMeta = Buffer.concat([bytes(1, 'v1'), bytes(2, kind)]);
  return Buffer.concat([Buffer.from('k8s\0'), bytes(1, typeMeta), bytes(2, Buffer.concat(fields))]);
}

describe('decodeCore', () => {
  it('reads a Secret with labels and binary data', () => {
    const metadata = Buffer.concat([
      bytes(1, 'creds'),
      bytes(3, ''),
      bytes(11, entry('a', 'b')),
      bytes(14, 'x/y'),
    ]);
    const secret = envelope(
      'Secret',
      bytes(1, metadata),
      bytes(2, entry('p', 'pass')),
      bytes(2, entry('u', 'me')),
      bytes(3, 'Opaque'),
    );
    expect(decodeCore(secret)).toEqual({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'creds', labels: { a: 'b' }, finalizers: ['x/y'] },
      data: { p: 'cGFzcw==', u: 'bWU=' },
      type: 'Opaque',
    });
  });

  it('reads a ConfigMap', () => {
    const map = envelope('ConfigMap', bytes(1, bytes(1, 'cm')), bytes(2, entry('k', 'v')));
    expect(decodeCore(map)).toMatchObject({ kind: 'ConfigMap', metadata: { name: 'cm' }, data: { k: 'v' } });
  });

  it('rejects other kinds with the reason', () => {
    expect(() => decodeCore(envelope('Pod'))).toThrowError(
      expect.objectContaining({ code: 'UnsupportedMediaType' }),
    );
  });

  it('returns an object or throws an ArcError for any bytes', () => {
    const start = envelope('Secret');
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), fc.boolean(), (noise, wrapped) => {
        try {
          decodeCore(wrapped ? envelope('Secret', Buffer.from(noise)) : Buffer.concat([start, noise]));
        } catch (caught) {
          expect(caught).toBeInstanceOf(ArcError);
        }
      }),
    );
  });
});
