import { createHash, createHmac } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** A request as the server sees it. */
export interface SignedRequest {
  method: string;
  /** Path and query, escaped as they came. */
  path: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest('hex');
const hmac = (key: string | Buffer, data: string) => createHmac('sha256', key).update(data).digest();

/** The key ID and service of a signed request; undefined if it is not signed. */
export function signerOf({
  authorization = '',
}: IncomingHttpHeaders): { id: string; scope: string } | undefined {
  const [, id, scope] = /^AWS4-HMAC-SHA256 Credential=([^/]+)\/([^,]+),/.exec(authorization) ?? [];
  return id === undefined || scope === undefined ? undefined : { id, scope };
}

/** Verifies a request's signature (AWS Signature Version 4). As for S3, the path is not escaped again. */
export function isSignedWith(secret: string, { method, path, headers, body }: SignedRequest): boolean {
  const { scope = '' } = signerOf(headers) ?? {};
  const [, names = '', signature] =
    /SignedHeaders=([^,]+),\s*Signature=([0-9a-f]{64})$/.exec(headers.authorization ?? '') ?? [];
  const [pathname = '', query = ''] = path.split('?');
  const canonical = [
    method,
    pathname,
    query.split('&').sort().join('&'),
    ...names.split(';').map((name) => `${name}:${String(headers[name]).trim()}`),
    '',
    names,
    headers['x-amz-content-sha256'] ?? sha256(body),
  ].join('\n');
  const text = ['AWS4-HMAC-SHA256', headers['x-amz-date'], scope, sha256(canonical)].join('\n');
  const key = scope.split('/').reduce<string | Buffer>((last, part) => hmac(last, part), `AWS4${secret}`);
  return hmac(key, text).toString('hex') === signature;
}
