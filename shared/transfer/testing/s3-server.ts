import { createHash, randomUUID } from 'node:crypto';
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { type FaultServer, type SeenRequest, startFaultServer } from './fault-server.ts';

export interface S3ServerOptions {
  /** Requests without this key ID get 403. */
  accessKeyID?: string;
  /** The region of its buckets; a request signed for another region gets 400. */
  region?: string;
  /** False: it drops metadata, and copies nothing. */
  metadata?: boolean;
}

export interface StoredObject {
  bytes: Buffer;
  etag: string;
  headers: Readonly<Record<string, string>>;
}

interface Upload {
  path: string;
  headers: StoredObject['headers'];
  parts: Map<number, { bytes: Buffer; etag: string }>;
}

/** A small S3-compatible storage with path-style URLs. It verifies body hashes, but no signatures. */
export interface S3Server extends FaultServer {
  /** By `/bucket/key`. */
  objects: Map<string, StoredObject>;
  uploads: Map<string, Upload>;
}

const md5 = (bytes: Uint8Array): string => createHash('md5').update(bytes).digest('hex');
const kept = (name: string) => name === 'content-type' || name.startsWith('x-amz-meta-');

/** Starts an empty one. */
export async function startS3Server(options: S3ServerOptions = {}): Promise<S3Server> {
  const objects = new Map<string, StoredObject>();
  const uploads = new Map<string, Upload>();
  const server = await startFaultServer((request, body, response) => {
    const refused = refusal(request, body);
    if (refused !== undefined) fail(response, ...refused);
    else serve(request, body, response);
  });

  function refusal(request: SeenRequest, body: Buffer): [number, string, string?] | undefined {
    const { authorization = '', 'x-amz-content-sha256': hash } = request.headers;
    const [, id, region] = /Credential=([^/]+)\/\d{8}\/([^/]+)\/s3\//.exec(authorization) ?? [];
    if (options.accessKeyID !== undefined && id === undefined) return [403, 'AccessDenied'];
    if (options.accessKeyID !== undefined && id !== options.accessKeyID) return [403, 'InvalidAccessKeyId'];
    if (region !== undefined && options.region !== undefined && region !== options.region)
      return [400, 'AuthorizationHeaderMalformed', `<Region>${options.region}</Region>`];
    const found = createHash('sha256').update(body).digest('hex');
    return hash === undefined || hash === found ? undefined : [400, 'XAmzContentSHA256Mismatch'];
  }

  function fail(response: ServerResponse, status: number, code: string, more = ''): void {
    response.writeHead(status, { 'content-type': 'application/xml' });
    response.end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>no</Message>${more}</Error>`);
  }

  function serve(request: SeenRequest, body: Buffer, response: ServerResponse): void {
    const { pathname, searchParams } = new URL(request.path, server.url);
    const path = decodeURIComponent(pathname);
    const id = searchParams.get('uploadId');
    const { method } = request;
    if (method === 'GET' && searchParams.has('uploads')) listUploads(path, searchParams, response);
    else if (method === 'POST' && searchParams.has('uploads')) begin(path, request, response);
    else if (id !== null) serveUpload(request, id, searchParams, body, response);
    else if (method === 'PUT') put(path, request, body, response);
    else if (method === 'GET' || method === 'HEAD') read(path, request, response);
    else fail(response, 405, 'MethodNotAllowed');
  }

  function headersOf({ headers }: SeenRequest): Record<string, string> {
    const given = Object.entries(headers).flatMap(([name, value]) =>
      kept(name) && typeof value === 'string' ? [[name, value] as const] : [],
    );
    return options.metadata === false ? {} : Object.fromEntries(given);
  }

  /** The source bytes of a copy; undefined if a response was sent. */
  function copied(request: SeenRequest, response: ServerResponse): Buffer | undefined {
    const from = objects.get(decodeURIComponent(String(request.headers['x-amz-copy-source'])));
    const version = request.headers['x-amz-copy-source-if-match'];
    const [, first, last] =
      /^bytes=(\d+)-(\d+)$/.exec(String(request.headers['x-amz-copy-source-range'])) ?? [];
    if (options.metadata === false) fail(response, 501, 'NotImplemented');
    else if (!from) fail(response, 404, 'NoSuchKey');
    else if (version !== undefined && version !== from.etag) fail(response, 412, 'PreconditionFailed');
    else return first === undefined ? from.bytes : from.bytes.subarray(Number(first), Number(last) + 1);
    return undefined;
  }

  function put(path: string, request: SeenRequest, body: Buffer, response: ServerResponse): void {
    const isCopy = request.headers['x-amz-copy-source'] !== undefined;
    const bytes = isCopy ? copied(request, response) : body;
    if (bytes === undefined) return;
    const etag = `"${md5(bytes)}"`;
    objects.set(path, { bytes, etag, headers: headersOf(request) });
    response.writeHead(200, { etag });
    response.end(isCopy ? `<CopyObjectResult><ETag>${etag}</ETag></CopyObjectResult>` : undefined);
  }

  function read(path: string, { method, headers }: SeenRequest, response: ServerResponse): void {
    const found = objects.get(path);
    if (!found) {
      fail(response, 404, 'NoSuchKey');
      return;
    }
    if (headers['if-match'] !== undefined && headers['if-match'] !== found.etag) {
      fail(response, 412, 'PreconditionFailed');
      return;
    }
    const start = Number(/^bytes=(\d+)-$/.exec(headers.range ?? '')?.[1] ?? 0);
    const part = found.bytes.subarray(start);
    const { length } = found.bytes;
    const answer: OutgoingHttpHeaders = { ...found.headers, etag: found.etag, 'content-length': part.length };
    if (start > 0) answer['content-range'] = `bytes ${start}-${length - 1}/${length}`;
    response.writeHead(start > 0 ? 206 : 200, answer).end(method === 'HEAD' ? undefined : part);
  }

  function begin(path: string, request: SeenRequest, response: ServerResponse): void {
    const id = randomUUID();
    uploads.set(id, { path, headers: headersOf(request), parts: new Map() });
    response.end(`<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`);
  }

  function listUploads(bucket: string, query: URLSearchParams, response: ServerResponse): void {
    const listed = [...uploads].flatMap(([id, { path }]) => {
      const key = path.slice(bucket.length + 1);
      return key.startsWith(query.get('prefix') ?? '')
        ? [
            `<Upload><Key>${key}</Key><UploadId>${id}</UploadId><Initiated>2026-01-01T00:00:00Z</Initiated></Upload>`,
          ]
        : [];
    });
    response.end(`<ListMultipartUploadsResult>${listed.join('')}</ListMultipartUploadsResult>`);
  }

  function serveUpload(
    request: SeenRequest,
    id: string,
    query: URLSearchParams,
    body: Buffer,
    response: ServerResponse,
  ): void {
    const upload = uploads.get(id);
    const { method } = request;
    if (!upload) fail(response, 404, 'NoSuchUpload');
    else if (method === 'DELETE') {
      uploads.delete(id);
      response.writeHead(204).end();
    } else if (method === 'GET') listParts(upload, response);
    else if (method === 'POST') complete(id, upload, response);
    else putPart(upload, request, Number(query.get('partNumber')), body, response);
  }

  function putPart(
    upload: Upload,
    request: SeenRequest,
    number: number,
    body: Buffer,
    response: ServerResponse,
  ): void {
    const isCopy = request.headers['x-amz-copy-source'] !== undefined;
    const bytes = isCopy ? copied(request, response) : body;
    if (bytes === undefined) return;
    const etag = `"${md5(bytes)}"`;
    upload.parts.set(number, { bytes, etag });
    response.writeHead(200, { etag });
    response.end(isCopy ? `<CopyPartResult><ETag>${etag}</ETag></CopyPartResult>` : undefined);
  }

  function listParts({ parts }: Upload, response: ServerResponse): void {
    const listed = [...parts].map(
      ([number, { bytes, etag }]) =>
        `<Part><PartNumber>${number}</PartNumber><Size>${bytes.length}</Size><ETag>${etag.replaceAll('"', '&quot;')}</ETag></Part>`,
    );
    response.end(`<ListPartsResult>${listed.join('')}<IsTruncated>false</IsTruncated></ListPartsResult>`);
  }

  function complete(id: string, { path, headers, parts }: Upload, response: ServerResponse): void {
    const ordered = [...parts].sort(([a], [b]) => a - b).map(([, part]) => part);
    const sums = ordered.map(({ etag }) => Buffer.from(etag.slice(1, -1), 'hex'));
    const etag = `"${md5(Buffer.concat(sums))}-${parts.size}"`;
    objects.set(path, { bytes: Buffer.concat(ordered.map(({ bytes }) => bytes)), etag, headers });
    uploads.delete(id);
    response.end(`<CompleteMultipartUploadResult><ETag>${etag}</ETag></CompleteMultipartUploadResult>`);
  }

  return Object.assign(server, { objects, uploads });
}
