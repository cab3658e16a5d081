import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { TransferError } from '../errors/transfer-error.ts';
import type { BodyMaker } from '../http/http-client.ts';
import { isDigest } from '../reference/digest.ts';
import type { Place } from '../reference/image-address.ts';
import {
  acceptedManifests,
  type Descriptor,
  longestManifest,
  type Manifest,
  parseManifest,
} from './manifest.ts';
import { nextPage } from './next-page.ts';
import type { Call, Caller } from './registry-client.ts';

/** A blob from some byte on. */
export interface OpenBlob {
  /** Where the stream really starts; 0 if the registry ignored which part was wanted. */
  start: number;
  /** Bytes of the whole blob, where the registry says it. */
  size: number | undefined;
  stream: Readable;
}

/** What the distribution specification lets one do with one repository. Every call rejects with a TransferError. */
export interface Repository {
  readonly place: Place;
  /** The manifest by tag or digest, its bytes checked against the digest; undefined if there is none. */
  manifest(reference: string, signal: AbortSignal): Promise<Manifest | undefined>;
  /** The digest behind a tag or digest; undefined if there is none. */
  head(reference: string, signal: AbortSignal): Promise<string | undefined>;
  /** Stores the manifest; `subjectSeen`: the registry lists it as a referrer by itself (OCI-Subject). */
  putManifest(reference: string, manifest: Manifest, signal: AbortSignal): Promise<{ subjectSeen: boolean }>;
  hasBlob(digest: string, signal: AbortSignal): Promise<boolean>;
  openBlob(digest: string, offset: number, signal: AbortSignal): Promise<OpenBlob>;
  /** Takes the blob over from another repository of the same registry; false if the registry does not do that. */
  mount(digest: string, from: string, signal: AbortSignal): Promise<boolean>;
  /** One monolithic upload, tried once. */
  upload(blob: Descriptor, body: BodyMaker, signal: AbortSignal): Promise<void>;
  /** Referrers by the API, all pages; undefined if the registry has no such API. */
  referrers(digest: string, signal: AbortSignal): Promise<Descriptor[] | undefined>;
}

const mostPages = 100;
/** The answers to HEAD where only GET is understood. A blob then counts as absent and is sent. */
const noHead = [400, 405, 501];

/** What the registry says the digest is; undefined for anything that is no digest of a known kind. */
function digestSaid(headers: IncomingHttpHeaders): string | undefined {
  const said = headers['docker-content-digest'];
  return typeof said === 'string' && isDigest(said) ? said : undefined;
}

/** The operations on the repository that `call` is bound to. */
export function createRepository(place: Place, call: Caller): Repository {
  const base = `/v2/${place.repository}`;

  async function manifest(reference: string, signal: AbortSignal): Promise<Manifest | undefined> {
    const answer = await call(
      {
        method: 'GET',
        target: `${base}/manifests/${reference}`,
        headers: { accept: acceptedManifests },
        expect: [200, 404],
        limit: longestManifest,
        doing: `reading manifest ${reference}`,
      },
      signal,
    );
    if (answer.status === 404) return undefined;
    const what = `${reference} of ${place.host}/${place.repository}`;
    if (!answer.bytes) {
      throw new TransferError('permanent', `The manifest ${what} cannot be copied: it is larger than 4 MiB.`);
    }
    const wanted = reference.includes(':') ? reference : digestSaid(answer.headers);
    const parsed = parseManifest(answer.bytes, what, answer.headers['content-type'], wanted);
    if (wanted !== undefined && parsed.digest !== wanted) {
      const text = `Registry ${place.host} answered with other bytes than it promised: manifest ${what} should have digest ${wanted} and has ${parsed.digest}; do not trust this copy, have the image pushed anew.`;
      throw new TransferError('permanent', text);
    }
    return parsed;
  }

  async function head(reference: string, signal: AbortSignal): Promise<string | undefined> {
    const answer = await call(
      {
        method: 'HEAD',
        target: `${base}/manifests/${reference}`,
        headers: { accept: acceptedManifests },
        expect: [200, 404, ...noHead],
        doing: `looking for manifest ${reference}`,
      },
      signal,
    );
    if (answer.status === 404) return undefined;
    const said = answer.status === 200 ? digestSaid(answer.headers) : undefined;
    // The header is a SHOULD of the specification, and some proxies let only GET through.
    return said ?? (await manifest(reference, signal))?.digest;
  }

  async function putManifest(
    reference: string,
    manifest: Manifest,
    signal: AbortSignal,
  ): Promise<{ subjectSeen: boolean }> {
    const answer = await call(
      {
        method: 'PUT',
        target: `${base}/manifests/${reference}`,
        headers: { 'content-type': manifest.mediaType },
        body: () => manifest.bytes,
        length: manifest.bytes.length,
        expect: [200, 201, 202],
        writing: true,
        doing: `writing manifest ${reference}`,
      },
      signal,
    );
    const stored = digestSaid(answer.headers);
    const algorithm = manifest.digest.slice(0, manifest.digest.indexOf(':') + 1);
    if (stored?.startsWith(algorithm) && stored !== manifest.digest) {
      const text = `Registry ${place.host} changed manifest ${reference} of repository ${place.repository} while storing it (${manifest.digest} became ${stored}): its digest could not be kept.`;
      throw new TransferError('permanent', text);
    }
    return { subjectSeen: answer.headers['oci-subject'] !== undefined };
  }

  async function hasBlob(digest: string, signal: AbortSignal): Promise<boolean> {
    const target = `${base}/blobs/${digest}`;
    const answer = await call(
      { method: 'HEAD', target, expect: [200, 404, ...noHead], doing: `looking for blob ${digest}` },
      signal,
    );
    return answer.status === 200;
  }

  async function openBlob(digest: string, offset: number, signal: AbortSignal): Promise<OpenBlob> {
    const answer = await call(
      {
        method: 'GET',
        target: `${base}/blobs/${digest}`,
        headers: offset > 0 ? { range: `bytes=${offset}-` } : {},
        expect: offset > 0 ? [200, 206, 416] : [200],
        streamed: true,
        doing: `reading blob ${digest}`,
      },
      signal,
    );
    const { headers, status, stream } = answer;
    if (status === 416) {
      // It has no such part: from the beginning it says how long the blob is, or that it gives no parts.
      stream.destroy();
      return openBlob(digest, 0, signal);
    }
    if (status === 200) return { start: 0, size: byteCount(headers['content-length']), stream };
    const [, start, size] = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(headers['content-range'] ?? '') ?? [];
    return { start: byteCount(start) ?? offset, size: byteCount(size), stream };
  }

  /** Where the upload goes. A registry behind a proxy may write http:// for its own host: then its origin is meant. */
  function uploadTarget(location: string | undefined, opened: URL, digest: string): URL {
    if (location === undefined || !URL.canParse(location, opened.href)) {
      throw new TransferError(
        'permanent',
        `Registry ${place.host} opened an upload to repository ${place.repository} without saying where (no Location).`,
      );
    }
    const url = new URL(location, opened);
    const origin = new URL(place.origin);
    if (url.hostname === origin.hostname && url.protocol === 'http:' && origin.protocol === 'https:') {
      url.protocol = origin.protocol;
      url.port = origin.port;
    }
    url.searchParams.set('digest', digest);
    return url;
  }

  return {
    place,
    manifest,
    head,
    putManifest,
    hasBlob,
    openBlob,

    async mount(digest, from, signal) {
      const query = new URLSearchParams({ mount: digest, from });
      const mounting: Call = {
        method: 'POST',
        target: `${base}/blobs/uploads/?${query}`,
        scopes: [`repository:${from}:pull`],
        expect: [201, 202],
        writing: true,
        doing: `mounting blob ${digest} from ${from}`,
      };
      try {
        const { status, headers } = await call(mounting, signal);
        return status === 201 && (digestSaid(headers) ?? digest) === digest;
      } catch (caught) {
        if (signal.aborted || !(caught instanceof TransferError)) throw caught;
        // Only a short way: what is really wrong shows itself when the blob is sent the ordinary way.
        return false;
      }
    },

    async upload(blob, body, signal) {
      const opened: Call = {
        method: 'POST',
        target: `${base}/blobs/uploads/`,
        expect: [202],
        writing: true,
        doing: `starting the upload of blob ${blob.digest}`,
      };
      const { headers, url } = await call(opened, signal);
      await call(
        {
          method: 'PUT',
          target: uploadTarget(headers.location, url, blob.digest),
          headers: { 'content-type': 'application/octet-stream' },
          body,
          length: blob.size,
          expect: [201, 204],
          writing: true,
          retried: false,
          doing: `sending blob ${blob.digest}`,
        },
        signal,
      );
    },

    async referrers(digest, signal) {
      const found: Descriptor[] = [];
      let target: string | URL | undefined = `${base}/referrers/${digest}`;
      for (let page = 0; target !== undefined; page += 1) {
        if (page >= mostPages) {
          throw new TransferError(
            'permanent',
            `Registry ${place.host} lists the referrers of ${digest} on more than ${mostPages} pages.`,
          );
        }
        const request: Call = {
          method: 'GET',
          target,
          headers: { accept: acceptedManifests },
          // 404 is the specified answer of a registry without the API; older ones refuse the unknown path otherwise.
          expect: page === 0 ? [200, 400, 404, 405, 501] : [200],
          limit: longestManifest,
          doing: `listing the referrers of ${digest}`,
        };
        const answer = await call(request, signal);
        if (answer.status !== 200) return undefined;
        if (!(answer.headers['content-type'] ?? '').includes('json')) return undefined;
        const what = `list of the referrers of ${digest} at ${place.host}`;
        if (!answer.bytes) throw new TransferError('permanent', `The ${what} is larger than 4 MiB.`);
        found.push(...parseManifest(answer.bytes, what).children);
        target = nextPage(answer.headers.link, new URL(target, place.origin));
      }
      return found;
    },
  };
}

function byteCount(text: string | undefined): number | undefined {
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined;
}
