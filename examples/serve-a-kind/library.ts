/** Serves one kind, Book of library.example.com/v1, as a Kubernetes API on loopback. The README beside this file explains it. */
import { randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { generate } from 'selfsigned';
import { stringify } from 'yaml';
import * as z from 'zod';
import { ArcError } from '#shared/base/errors';
import {
  type AdmissionPlugin,
  createApiServer,
  type KindDefinition,
  serve,
} from '#shared/kubernetes/apiserver';
import { openEmbeddedStore } from '#shared/kubernetes/storage';

type Status = { borrower?: string } | undefined;

/** The kind: names, fields and columns. Validation, OpenAPI and `kubectl explain` are derived from the schema. */
const book: KindDefinition = {
  group: 'library.example.com',
  version: 'v1',
  kind: 'Book',
  plural: 'books',
  singular: 'book',
  shortNames: ['bk'],
  scope: 'Namespaced',
  description: 'A Book stands on a shelf of the library until somebody borrows it.',
  schema: z.object({
    spec: z
      .object({
        title: z.string().min(1).describe('The title on its cover.'),
        pages: z.int().min(1).describe('The number of its pages.'),
        shelf: z.string().default('new').describe('The shelf where it belongs.'),
      })
      .describe('The book itself.'),
    status: z
      .object({ borrower: z.string().optional().describe('The reader who has it.') })
      .optional()
      .describe('Where the book is now. Written through /status only.'),
  }),
  status: true,
  columns: [
    {
      name: 'Shelf',
      type: 'string',
      description: 'Where it belongs.',
      value: (one) => at(one.spec, 'shelf'),
    },
    {
      name: 'Borrower',
      type: 'string',
      description: 'Who has it.',
      value: (one) => at(one.status, 'borrower'),
    },
    {
      name: 'Age',
      type: 'date',
      description: 'Time since creation.',
      value: (one) => one.metadata.creationTimestamp,
    },
  ],
};

/** The admission rule: a lent book cannot be deleted. */
const keepLentBooks: AdmissionPlugin = {
  name: 'KeepLentBooks',
  async validate({ operation, name, oldObject }) {
    const borrower = (oldObject?.status as Status)?.borrower;
    if (operation !== 'DELETE' || borrower === undefined) return;
    throw new ArcError(
      'Forbidden',
      `books.library.example.com "${name}" is forbidden: ${borrower} has borrowed it`,
    );
  },
};

function at(part: unknown, field: string): string {
  return String((part as Record<string, unknown> | undefined)?.[field] ?? '');
}

/** A running library; `ca` is the certificate that clients must trust. */
export interface Library {
  url: string;
  ca: string;
  token: string;
  kubeconfig: string;
  close(): Promise<void>;
}

/** Serves the books in `folder` on a loopback port; 0 takes any free one. */
export async function startLibrary(folder: string, port: number): Promise<Library> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const token = randomBytes(32).toString('base64url');
  const pem = await generate([{ name: 'commonName', value: 'library' }], {
    keyType: 'ec',
    algorithm: 'sha256',
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 7, ip: '127.0.0.1' }] }],
  });
  const store = await openEmbeddedStore({ folder: path.join(folder, 'store') });
  const api = createApiServer({
    kinds: [book],
    store,
    admission: [keepLentBooks],
    // A single user with all permissions. A server behind a cluster delegates: see functions/api-server.
    authenticate: async ({ headers }) => {
      if (headers.get('authorization') === `Bearer ${token}`) return { name: 'librarian', groups: [] };
      throw new ArcError('Unauthorized', 'Unauthorized');
    },
    authorize: async () => ({ allowed: true }),
  });
  const serving = await serve(api, {
    certificate: { cert: pem.cert, key: pem.private },
    host: '127.0.0.1',
    port,
  });
  const url = `https://127.0.0.1:${serving.port}`;
  const kubeconfig = path.join(folder, 'kubeconfig');
  const cluster = { server: url, 'certificate-authority-data': Buffer.from(pem.cert).toString('base64') };
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'library',
    clusters: [{ name: 'library', cluster }],
    users: [{ name: 'librarian', user: { token } }],
    contexts: [{ name: 'library', context: { cluster: 'library', user: 'librarian', namespace: 'default' } }],
  };
  await writeFile(kubeconfig, stringify(config), { mode: 0o600 });
  const close = async () => {
    await serving.close({ graceMs: 1_000 });
    await store.close();
  };
  return { url, ca: pem.cert, token, kubeconfig, close };
}
