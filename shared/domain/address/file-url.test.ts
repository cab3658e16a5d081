import { describe, expect, it } from 'vitest';
import { fc } from '#shared/base/testing';
import { fileURL } from './file-url.ts';

describe('fileURL', () => {
  it.each([
    ['https://h/pub', 'a/b.tgz', 'https://h/pub/a/b.tgz'],
    ['https://h/pub/', 'a b+c%2e.tgz', 'https://h/pub/a%20b%2Bc%252e.tgz'],
    ['h:8443', 'x?y#z', 'https://h:8443/x%3Fy%23z'],
    ['https://h/pub?version=3', 'a', 'https://h/pub/a?version=3'],
  ])('of %s and %s', (remoteURL, path, expected) => expect(fileURL(remoteURL, path).href).toBe(expected));

  it.each(['', '/a', 'a/', 'a//b', '..', 'a/../b', './a', 'a\\b', 'a\nb', '\ud800', 'x'.repeat(1025)])(
    'refuses %j',
    (path) => expect(() => fileURL('https://h/pub', path)).toThrow(/cannot be used/),
  );

  it.each([
    ['https://me:secret@h/', /contains credentials/],
    ['ftp://h/', /scheme must be https or http/],
    ['https://', /must have the form/],
  ])('refuses the Endpoint %s', (remoteURL, message) => {
    expect(() => fileURL(remoteURL, 'a')).toThrow(message);
  });

  it('never leads out of the Endpoint', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 40 }), (path) => {
        try {
          const url = fileURL('https://h/pub', path);
          return url.origin === 'https://h' && url.pathname.startsWith('/pub/') && url.search === '';
        } catch (caught) {
          return caught instanceof Error && caught.message.includes('cannot be used');
        }
      }),
      { numRuns: 500 },
    );
  });
});
