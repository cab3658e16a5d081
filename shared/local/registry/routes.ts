import { randomUUID } from 'node:crypto';
import { type Contents, digestOf, Refusal, referrersOf, repositoryOf, storeManifest } from './contents.ts';
import { errorReply, jsonReply, type Reply } from './reply.ts';

export interface RouteRequest {
  method: string;
  url: URL;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The whole body; rejects if the client goes away before its end. */
  body: () => Promise<Buffer>;
}

export interface RouteOptions {
  contents: Contents;
  /** False: no referrers API and no OCI-Subject header, as registries before distribution-spec 1.1. */
  referrersApi: boolean;
  /** True: the tag `sha256-<hex>` is answered with the image of that digest. */
  gitlabFallback: boolean;
  /** Entries per page of the referrers list. */
  referrersPage: number;
}

export type Routes = (request: RouteRequest, name: string, rest: string) => Promise<Reply>;

const indexType = 'application/vnd.oci.image.index.v1+json';

/** The operations of the distribution specification 1.1 on `contents`: `name` a repository, `rest` what follows it. */
export function createRoutes(options: RouteOptions): Routes {
  const { contents } = options;
  const uploads = new Map<string, Buffer[]>();

  async function startUpload({ url, body }: RouteRequest, name: string): Promise<Reply> {
    const repository = repositoryOf(contents, name);
    const mounted = url.searchParams.get('mount');
    const from = contents.get(url.searchParams.get('from') ?? '')?.blobs.get(mounted ?? '');
    if (mounted !== null && from) {
      repository.blobs.set(mounted, from);
      return {
        status: 201,
        headers: { location: `/v2/${name}/blobs/${mounted}`, 'docker-content-digest': mounted },
      };
    }
    const whole = url.searchParams.get('digest');
    if (whole !== null) return storeBlob(name, whole, await body());
    const id = randomUUID();
    uploads.set(id, []);
    return { status: 202, headers: { location: `/v2/${name}/blobs/uploads/${id}`, range: '0-0' } };
  }

  function storeBlob(name: string, digest: string, bytes: Buffer): Reply {
    const found = digestOf(bytes, digest);
    if (found !== digest) throw new Refusal(400, 'DIGEST_INVALID', `the content is ${found}`);
    repositoryOf(contents, name).blobs.set(digest, bytes);
    return {
      status: 201,
      headers: { location: `/v2/${name}/blobs/${digest}`, 'docker-content-digest': digest },
    };
  }

  async function continueUpload(
    { method, url, body }: RouteRequest,
    name: string,
    id: string,
  ): Promise<Reply> {
    const chunks = uploads.get(id);
    if (!chunks) throw new Refusal(404, 'BLOB_UPLOAD_UNKNOWN', 'no such upload');
    // As docker-registry does: an upload cut off is gone, and the client has to start a new one.
    uploads.delete(id);
    chunks.push(await body());
    if (method === 'PATCH') {
      uploads.set(id, chunks);
      const length = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
      return {
        status: 202,
        headers: { location: `/v2/${name}/blobs/uploads/${id}`, range: `0-${length - 1}` },
      };
    }
    return storeBlob(name, url.searchParams.get('digest') ?? '', Buffer.concat(chunks));
  }

  function readBlob({ headers }: RouteRequest, name: string, digest: string): Reply {
    const bytes = contents.get(name)?.blobs.get(digest);
    if (!bytes) throw new Refusal(404, 'BLOB_UNKNOWN', `blob ${digest} unknown`);
    const common = {
      'content-type': 'application/octet-stream',
      'docker-content-digest': digest,
      'accept-ranges': 'bytes',
    };
    const start = /^bytes=(\d+)-$/.exec(String(headers.range ?? ''))?.[1];
    if (start === undefined) return { status: 200, headers: common, body: bytes };
    const from = Number(start);
    if (from >= bytes.length) throw new Refusal(416, 'RANGE_INVALID', 'the range starts after the end');
    const range = `bytes ${from}-${bytes.length - 1}/${bytes.length}`;
    return { status: 206, headers: { ...common, 'content-range': range }, body: bytes.subarray(from) };
  }

  async function manifest(request: RouteRequest, name: string, reference: string): Promise<Reply> {
    if (request.method === 'PUT') {
      const type = String(request.headers['content-type'] ?? '');
      const stored = storeManifest(contents, name, reference, await request.body(), type);
      const subject: Record<string, string> =
        options.referrersApi && stored.subject ? { 'oci-subject': stored.subject } : {};
      return {
        status: 201,
        headers: {
          location: `/v2/${name}/manifests/${stored.digest}`,
          'docker-content-digest': stored.digest,
          ...subject,
        },
      };
    }
    const repository = repositoryOf(contents, name);
    const byTag = repository.tags.get(reference) ?? gitlabDigest(reference);
    const found = repository.manifests.get(reference.includes(':') ? reference : (byTag ?? ''));
    if (!found) throw new Refusal(404, 'MANIFEST_UNKNOWN', `manifest ${reference} unknown`);
    const headers = { 'content-type': found.mediaType, 'docker-content-digest': found.digest };
    return { status: 200, headers, body: found.bytes };
  }

  function gitlabDigest(reference: string): string | undefined {
    return options.gitlabFallback
      ? /^sha256-([0-9a-f]{64})$/.exec(reference)?.[1]?.replace(/^/, 'sha256:')
      : undefined;
  }

  function referrers({ url }: RouteRequest, name: string, digest: string): Reply {
    if (!options.referrersApi) throw new Refusal(404, 'UNSUPPORTED', 'no such route');
    const all = referrersOf(repositoryOf(contents, name), digest);
    const from = Number(url.searchParams.get('from') ?? '0');
    const page = all.slice(from, from + options.referrersPage);
    const more: Record<string, string> =
      from + page.length < all.length
        ? { link: `<${url.pathname}?from=${from + page.length}>; rel="next"` }
        : {};
    return jsonReply({ schemaVersion: 2, mediaType: indexType, manifests: page }, indexType, more);
  }

  async function blobs(request: RouteRequest, name: string, first: string, upload: string): Promise<Reply> {
    if (request.method === 'GET' || request.method === 'HEAD') return readBlob(request, name, first);
    if (first !== 'uploads') return notServed(request);
    if (upload !== '') return continueUpload(request, name, upload);
    return request.method === 'POST' ? startUpload(request, name) : notServed(request);
  }

  return async (request, name, rest) => {
    const [kind = '', first = '', second = ''] = rest.split('/');
    if (kind === 'blobs') return blobs(request, name, first, second);
    const reading = request.method === 'GET' || request.method === 'HEAD';
    if (kind === 'manifests' && (reading || request.method === 'PUT')) return manifest(request, name, first);
    if (kind === 'referrers' && reading) return referrers(request, name, first);
    if (kind === 'tags' && reading) {
      return jsonReply({ name, tags: [...(contents.get(name)?.tags.keys() ?? [])].sort() });
    }
    return notServed(request);
  };
}

/** `GET /v2/_catalog` of the distribution project: `n` names at most, those after `last`. */
export function catalog(contents: Contents, url: URL): Reply {
  const last = url.searchParams.get('last') ?? '';
  const most = Number(url.searchParams.get('n') ?? '100');
  const names = [...contents.keys()].filter((name) => name > last).sort();
  const page = names.slice(0, most);
  const more: Record<string, string> =
    page.length < names.length
      ? { link: `<${url.pathname}?n=${most}&last=${encodeURIComponent(page.at(-1) ?? '')}>; rel="next"` }
      : {};
  return jsonReply({ repositories: page }, undefined, more);
}

function notServed({ method }: RouteRequest): Reply {
  return errorReply(405, 'UNSUPPORTED', `${method} is not served here`);
}
