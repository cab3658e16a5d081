import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { TransferError } from '../errors/transfer-error.ts';
import { resolveAddress } from '../reference/address.ts';
import { digestOf } from '../reference/digest.ts';
import type { RegistryRequest } from './registry-client.ts';
import { createUploads } from './uploads.ts';

const { signal } = new AbortController();
const content = Buffer.alloc(3 * 1024 * 1024, 'abc');
const half = 1.5 * 1024 * 1024;
const blob = { mediaType: 'application/octet-stream', digest: digestOf(content), size: content.length };
const cut = () => new TransferError('retryable', 'cut');
const gone = () => new TransferError('permanent', 'gone');

type Answer = (request: RegistryRequest) => { status: number; headers?: Record<string, string> };

/** A registry whose answers are `answers`, in this order; `stored` is what it got in PUTs that it accepted. */
function registry(...answers: Answer[]) {
  const asked: string[] = [];
  const stored: Buffer[] = [];
  const send = async (request: RegistryRequest) => {
    const { method, target, body } = request;
    const answer = answers[asked.length];
    asked.push(`${method} ${new URL(target, 'http://r').pathname}`);
    if (answer === undefined) throw new Error(`nothing to answer to ${asked.at(-1)}`);
    const { status, headers = {} } = answer(request);
    if (method === 'PUT') {
      const parts: Uint8Array[] = [];
      const given = body?.() ?? [];
      for await (const part of given instanceof Uint8Array ? [given] : given) parts.push(part);
      stored.push(Buffer.concat(parts));
      expect(stored.at(-1)).toHaveLength(request.length ?? -1);
    }
    const url = new URL(target, 'http://r');
    return { status, headers, url, quotable: true, bytes: undefined, stream: Readable.from([]) };
  };
  const { upload } = createUploads(resolveAddress('http://r', 'a:1'), send);
  return {
    asked,
    stored,
    upload: (resumable = true) =>
      upload(
        blob,
        () => content,
        signal,
        (offset) => (resumable ? content.subarray(offset) : undefined),
      ),
  };
}

const opens = (location: string) => () => ({ status: 202, headers: { location } });
const holds = (bytes: number) => () => ({
  status: 204,
  headers: { location: '/u/one?state=2', range: `0-${bytes - 1}` },
});
const stores = () => ({ status: 201 });
const fails = (failure: () => TransferError) => () => {
  throw failure();
};

it('an interrupted upload is resumed at the offset that the registry reports', async () => {
  const { asked, stored, upload } = registry(opens('/u/one?state=1'), fails(cut), holds(half), stores);
  await expect(upload()).rejects.toThrow('cut');
  await upload();
  expect(asked).toEqual(['POST /v2/a/blobs/uploads/', 'PUT /u/one', 'GET /u/one', 'PUT /u/one']);
  expect(stored.map((bytes) => digestOf(bytes))).toEqual([digestOf(content.subarray(half))]);
});

const anew = [opens('/u/two'), stores];
it.each<[string, boolean, ...Answer[]]>([
  ['the registry has forgotten it', true, fails(gone)],
  ['it holds next to nothing', true, holds(1)],
  ['the content can only be read from its beginning', false, holds(half)],
  ['the registry cannot go on with it', true, holds(half), fails(gone)],
])('it is restarted if %s', async (_, resumable, ...answers) => {
  const { asked, stored, upload } = registry(opens('/u/one'), fails(cut), ...answers, ...anew);
  await expect(upload()).rejects.toThrow('cut');
  await upload(resumable);
  expect(asked.slice(-2)).toEqual(['POST /v2/a/blobs/uploads/', 'PUT /u/two']);
  expect(digestOf(stored.at(-1) ?? Buffer.of())).toBe(blob.digest);
});

it('an upload that is interrupted again is resumed once more, and then restarted', async () => {
  const broken = [holds(half), fails(cut)];
  const { stored, upload } = registry(opens('/u/one'), fails(cut), ...broken, ...broken, ...anew);
  await expect(upload()).rejects.toThrow('cut');
  await expect(upload()).rejects.toThrow('cut');
  await upload();
  expect(stored.map((bytes) => digestOf(bytes))).toEqual([blob.digest]);
});
