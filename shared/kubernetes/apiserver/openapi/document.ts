import { createHash } from 'node:crypto';

/** A JSON document with its hash. */
export interface Document {
  body: string;
  /** Hexadecimal, of the body. */
  hash: string;
}

/** Makes a document at the first call and keeps it: each schema takes milliseconds, and most processes serve few. */
export function lazyDocument(make: () => object): () => Document {
  let document: Document | undefined;
  return () => {
    if (!document) {
      const body = JSON.stringify(make());
      document = { body, hash: createHash('sha256').update(body).digest('hex').toUpperCase() };
    }
    return document;
  };
}

/** True when If-None-Match names the ETag, alone or in a list, or is `*`. */
function unchanged(request: Request, etag: string): boolean {
  const known = request.headers.get('If-None-Match');
  return known?.split(',').some((one) => [etag, `W/${etag}`, '*'].includes(one.trim())) ?? false;
}

/** The document with its quoted ETag, or 304 to a client that has it. `headers` go with both. */
export function respondDocument(
  request: Request,
  document: Document,
  contentType: string,
  headers: Readonly<Record<string, string>> = {},
): Response {
  const etag = `"${document.hash}"`;
  if (unchanged(request, etag))
    return new Response(null, { status: 304, headers: { ...headers, ETag: etag } });
  return new Response(document.body, { headers: { ...headers, ETag: etag, 'Content-Type': contentType } });
}
