import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import tls from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Library, startLibrary } from './library.ts';

const books = '/apis/library.example.com/v1/namespaces/default/books';
let library: Library;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'library-'));
  library = await startLibrary(folder, 0);
  tls.setDefaultCACertificates([...tls.getCACertificates('default'), library.ca]);
});

afterAll(async () => {
  await library.close();
  await rm(folder, { recursive: true });
});

/** The fields that these tests read of an object, a list, a Table, a Status or a document. */
interface Body {
  reason?: string;
  status?: unknown;
  items?: { metadata: object }[];
  resources?: object[];
  columnDefinitions?: { name: string }[];
  rows?: { cells: unknown[] }[];
  components?: { schemas: Record<string, { properties?: { spec?: object } }> };
}

async function ask(method: string, url: string, body?: object, headers: Record<string, string> = {}) {
  const response = await fetch(library.url + url, {
    method,
    headers: { authorization: `Bearer ${library.token}`, 'content-type': 'application/json', ...headers },
    ...(body && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(10_000),
  });
  return { code: response.status, body: (await response.json()) as Body };
}

function book(name: string, spec: object) {
  return { apiVersion: 'library.example.com/v1', kind: 'Book', metadata: { name }, spec };
}

describe('an API server of one kind', () => {
  it('creates, defaults, lists and deletes objects', async () => {
    const created = await ask('POST', books, book('walden', { title: 'Walden', pages: 352 }));
    expect(created).toMatchObject({
      code: 201,
      body: { spec: { shelf: 'new' }, metadata: { generation: 1 } },
    });
    const listed = await ask('GET', books);
    expect(listed.body.items?.map(({ metadata }) => metadata)).toMatchObject([{ name: 'walden' }]);
    expect(await ask('DELETE', `${books}/walden`)).toMatchObject({ code: 200, body: { status: 'Success' } });
    expect((await ask('GET', books)).body.items).toEqual([]);
  });

  it('names the fields of an object that breaks the schema', async () => {
    const refused = await ask('POST', books, book('empty', { title: '', pages: 0 }));
    expect(refused).toMatchObject({
      code: 422,
      body: { reason: 'Invalid', details: { causes: [{ field: 'spec.title' }, { field: 'spec.pages' }] } },
    });
  });

  it('prints its columns for kubectl get', async () => {
    await ask('POST', books, book('emma', { title: 'Emma', pages: 474, shelf: 'austen' }));
    const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
    const { body } = await ask('GET', `${books}/emma`, undefined, { accept });
    expect(body.columnDefinitions?.map(({ name }) => name)).toEqual(['Name', 'Shelf', 'Borrower', 'Age']);
    expect(body.rows?.[0]?.cells.slice(0, 3)).toEqual(['emma', 'austen', '']);
  });

  it('keeps a book that is lent, by its admission rule', async () => {
    await ask('POST', books, book('dune', { title: 'Dune', pages: 412 }));
    const merge = { 'content-type': 'application/merge-patch+json' };
    const lent = await ask('PATCH', `${books}/dune/status`, { status: { borrower: 'Ann' } }, merge);
    expect(lent.body.status).toEqual({ borrower: 'Ann' });
    expect(await ask('DELETE', `${books}/dune`)).toMatchObject({
      code: 403,
      body: { reason: 'Forbidden', message: expect.stringContaining('Ann has borrowed it') },
    });
    await ask('PATCH', `${books}/dune/status`, { status: { borrower: null } }, merge);
    expect((await ask('DELETE', `${books}/dune`)).code).toBe(200);
  });

  it('sends what changes to a watch', async () => {
    const response = await fetch(`${library.url}${books}?watch=true&fieldSelector=metadata.name%3Dulysses`, {
      headers: { authorization: `Bearer ${library.token}` },
      signal: AbortSignal.timeout(10_000),
    });
    await ask('POST', books, book('ulysses', { title: 'Ulysses', pages: 730 }));
    const decoder = new TextDecoder();
    let text = '';
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk, { stream: true });
      if (text.includes('\n')) break;
    }
    expect(JSON.parse(text.slice(0, text.indexOf('\n')))).toMatchObject({
      type: 'ADDED',
      object: { metadata: { name: 'ulysses' }, spec: { pages: 730 } },
    });
  });

  it('describes the kind in discovery and OpenAPI, which kubectl explain reads', async () => {
    const resources = (await ask('GET', '/apis/library.example.com/v1')).body.resources;
    expect(resources).toContainEqual(
      expect.objectContaining({ name: 'books', shortNames: ['bk'], kind: 'Book' }),
    );
    const { body } = await ask('GET', '/openapi/v3/apis/library.example.com/v1');
    const schema = Object.values(body.components?.schemas ?? {}).find(
      ({ properties }) => properties?.spec !== undefined,
    );
    expect(schema).toMatchObject({
      description: expect.stringContaining('A Book stands on a shelf'),
      properties: {
        spec: {
          required: ['title', 'pages'],
          properties: { title: { description: 'The title on its cover.' } },
        },
      },
    });
  });

  it('refuses callers it does not know', async () => {
    const { code, body } = await ask('GET', books, undefined, { authorization: 'Bearer wrong' });
    expect([code, body.reason]).toEqual([401, 'Unauthorized']);
  });
});
