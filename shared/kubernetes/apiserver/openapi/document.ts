import { createHash } from 'node:crypto';

/** A JSON document with its hash. */
export interface Document {
  body: string;
  /** SHA-256 of the body in hexadecimal. */
  hash: string;
}

/** Returns a function that generates a document on the first call: each schema takes milliseconds, and most documents are never read. */
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

/** Tells whether If-None-Match matches the ETag. */
function matchesEtag(request: Request, etag: string): boolean {
  const known = request.headers.get('If-None-Match');
  return known?.split(',').some((one) => [etag, `W/${etag}`, '*'].includes(one.trim())) ?? false;
}

/** Responds with the document and its ETag, or 304 if the client has it. */
export function respondDocument(
  request: Request,
  document: Document,
  contentType: string,
  headers: Readonly<Record<string, string>> = {},
): Response {
  const etag = `"${document.hash}"`;
  if (matchesEtag(request, etag))
    return new Response(null, { status: 304, headers: { ...headers, ETag: etag } });
  return new Response(document.body, { headers: { ...headers, ETag: etag, 'Content-Type': contentType } });
}
