import { describe, expect, it } from 'vitest';
import { fc } from '#shared/base/testing';
import { completion, etagOf, explainFailure, newestUpload, partsOf, s3Error, uploadIdOf } from './answers.ts';

const xml = (text: string) => Buffer.from(`<?xml version="1.0" encoding="UTF-8"?>${text}`);

describe('responses of S3', () => {
  it('are read in the namespace of AWS and without one', () => {
    const id = '<UploadId>a/b+c==</UploadId>';
    for (const space of ['', ' xmlns="http://s3.amazonaws.com/doc/2006-03-01/"'])
      expect(
        uploadIdOf(xml(`<InitiateMultipartUploadResult${space}>${id}</InitiateMultipartUploadResult>`)),
      ).toBe('a/b+c==');
    expect(etagOf(xml('<CopyObjectResult><ETag>&quot;abc&quot;</ETag></CopyObjectResult>'))).toBe('"abc"');
  });

  it('contain the newest upload of exactly the key', () => {
    const upload = (key: string, id: string, at: string) =>
      `<Upload><Key>${key}</Key><UploadId>${id}</UploadId><Initiated>2026-01-0${at}T00:00:00Z</Initiated></Upload>`;
    const list = [upload('a', 'old', '1'), upload('a', 'new', '3'), upload('ab', 'other', '9')].join('');
    expect(newestUpload(xml(`<R>${list}</R>`), 'a')).toBe('new');
    expect(newestUpload(xml(`<R>${list}</R>`), 'b')).toBeUndefined();
  });

  it('contain the parts and whether there are more', () => {
    const part = '<Part><PartNumber>2</PartNumber><Size>5</Size><ETag>"e"</ETag></Part>';
    const more = '<IsTruncated>true</IsTruncated><NextPartNumberMarker>2</NextPartNumberMarker>';
    expect(partsOf(xml(`<R>${part}${more}</R>`))).toEqual({
      parts: [{ number: 2, size: 5, etag: '"e"' }],
      next: '2',
    });
    expect(partsOf(xml(`<R>${part}</R>`)).next).toBeUndefined();
  });

  it("explain failures in our words and in S3's", () => {
    const body = xml(
      '<Error><Code>ExpiredToken</Code><Message>The provided token has expired.</Message></Error>',
    );
    expect(explainFailure(400, body)).toEqual({
      quote: 'ExpiredToken: The provided token has expired.',
      advice: expect.objectContaining({ reason: 'auth' }),
    });
    expect(explainFailure(403, xml('<Error><Code>constructor</Code></Error>'))).toEqual({
      quote: 'constructor',
    });
    expect(explainFailure(502, Buffer.from('<html><body>Bad gateway'))).toBeUndefined();
  });

  it('expand no custom entities', () => {
    const bomb =
      '<!DOCTYPE Error [<!ENTITY a "xxxx"><!ENTITY b "&a;&a;"><!ENTITY c SYSTEM "file:///etc/passwd">]>';
    for (const entity of ['b', 'c'])
      expect(s3Error(xml(`${bomb}<Error><Code>&${entity};</Code></Error>`))).toBeUndefined();
  });

  it.each([
    ['that is very deep', '<a>'.repeat(200_000)],
    ['that is deep and whole', `${'<a>'.repeat(50_000)}${'</a>'.repeat(50_000)}`],
  ])('%s are not a response', (_, text) => expect(s3Error(Buffer.from(text))).toBeUndefined());

  it('never throw', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        for (const read of [s3Error, uploadIdOf, etagOf, partsOf]) read(bytes);
        newestUpload(bytes, 'a');
      }),
      { numRuns: 300 },
    );
  });

  it('are completed with escaped ETags', () => {
    expect(completion(['"a"', '<b&>']).toString()).toBe(
      '<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>&#34;a&#34;</ETag></Part><Part><PartNumber>2</PartNumber><ETag>&#60;b&#38;&#62;</ETag></Part></CompleteMultipartUpload>',
    );
  });
});
