import { type ImageAddress, isTag } from '#shared/domain/address';
import type { BlobKey, BlobSink, BlobSource, OpenBlob, Stored } from '../content/content.ts';
import {
  acceptedManifests,
  type Descriptor,
  type Manifest,
  maxManifestBytes,
  parseManifest,
} from '../content/manifest.ts';
import { TransferError } from '../errors/transfer-error.ts';
import { byteCount } from '../http/body.ts';
import { registryErrors } from '../http/request-failures.ts';
import { digestOf, isDigest } from '../reference/digest.ts';
import { nextPage } from './next-page.ts';
import { readPages, stringsIn } from './pages.ts';
import {
  type RegistryClient,
  type RegistryRequest,
  type RegistryResponse,
  reportedDigest,
} from './registry-client.ts';
import { createUploads } from './uploads.ts';

/** The operations of the OCI distribution specification on one repository. Each rejects with a TransferError. */
export interface Repository extends BlobSource, BlobSink {
  readonly address: ImageAddress;
  /** What the session has learnt of the repository, for all artifacts of it. */
  readonly known: KnownOfRepository;
  /** Reads a manifest by tag or digest and verifies its digest; undefined if it does not exist. */
  manifest(reference: string, signal: AbortSignal): Promise<Manifest | undefined>;
  /** The digest of a manifest by tag or digest; undefined if it does not exist. */
  head(reference: string, signal: AbortSignal): Promise<string | undefined>;
  /** Stores a manifest. `subjectSeen` is true if the registry answers with OCI-Subject. */
  putManifest(reference: string, manifest: Manifest, signal: AbortSignal): Promise<Stored>;
  /** All pages of the referrers API; undefined if the registry does not have it. */
  referrers(digest: string, signal: AbortSignal): Promise<Descriptor[] | undefined>;
  /** All tags if they fit on one page; undefined if there may be more pages, or if the registry does not answer with a list. */
  singlePageOfTags(signal: AbortSignal): Promise<string[] | undefined>;
  /** All tags, over all pages. Without the repository: an empty list if `mayBeAbsent`, otherwise an error. */
  tags(signal: AbortSignal, mayBeAbsent?: boolean): Promise<string[]>;
}

/** What a session knows of a repository. */
export interface KnownOfRepository {
  /** All tags, set by `tags`. */
  tags?: ReadonlySet<string>;
  /** True if the registry has no referrers API. */
  lacksReferrers?: boolean;
}

/** The digest algorithm that every registry supports. */
const usualAlgorithm = 'sha256:';
const tagPageSize = 1000;
const maxPages = 100;
/** Statuses of registries, or of proxies before them, that do not support or refuse HEAD: a GET decides. */
const noHead = [400, 403, 405, 501];

/** The operations on the repository that `send` belongs to. */
export function createRepository(address: ImageAddress, send: RegistryClient): Repository {
  const base = `/v2/${address.repository}`;
  const tagList = `${base}/tags/list?n=${tagPageSize}`;
  const place = `repository ${address.repository} of registry ${address.host}`;
  /** Digests of blobs whose size in the registry is wrong. */
  const damaged = new Set<string>();
  const known: KnownOfRepository = {};

  async function manifest(reference: string, signal: AbortSignal): Promise<Manifest | undefined> {
    const response = await send(
      {
        method: 'GET',
        target: `${base}/manifests/${reference}`,
        headers: { accept: acceptedManifests },
        expect: [200, 404],
        limit: maxManifestBytes,
        activity: `reading manifest ${reference}`,
      },
      signal,
    );
    if (response.status === 404) return undefined;
    const what = `${reference} of ${address.host}/${address.repository}`;
    const { bytes } = response;
    if (!bytes) {
      throw new TransferError('permanent', `The manifest ${what} cannot be copied: it is larger than 4 MiB.`);
    }
    const wanted = reference.includes(':') ? reference : reportedDigest(response.headers);
    const parsed = parsedUnquoted(response, what, () =>
      parseManifest(bytes, what, response.headers['content-type'], wanted),
    );
    if (wanted !== undefined && parsed.digest !== wanted) {
      const digests = response.quotable ? `${wanted} but has ${parsed.digest}` : 'another one';
      const text = `Registry ${address.host} served the wrong bytes: manifest ${what} should have digest ${digests}. Do not trust this image; push it again.`;
      throw new TransferError('permanent', text);
    }
    return parsed;
  }

  async function head(reference: string, signal: AbortSignal): Promise<string | undefined> {
    const response = await send(
      {
        method: 'HEAD',
        target: `${base}/manifests/${reference}`,
        headers: { accept: acceptedManifests },
        expect: [200, 404, ...noHead],
        activity: `looking for manifest ${reference}`,
      },
      signal,
    );
    if (response.status === 404) return undefined;
    const digest = response.status === 200 ? reportedDigest(response.headers) : undefined;
    // The specification only recommends the header, and some proxies pass only GET.
    return digest ?? (await manifest(reference, signal))?.digest;
  }

  async function putManifest(reference: string, manifest: Manifest, signal: AbortSignal): Promise<Stored> {
    const isUnusual = !manifest.digest.startsWith(usualAlgorithm);
    const response = await send(
      {
        method: 'PUT',
        target: `${base}/manifests/${reference}`,
        headers: { 'content-type': manifest.mediaType },
        body: () => manifest.bytes,
        length: manifest.bytes.length,
        // 400 comes from registries that compute another digest than the one in the URL.
        expect: [200, 201, 202, ...(isUnusual && isDigest(reference) ? [400] : [])],
        writing: true,
        activity: `writing manifest ${reference}`,
      },
      signal,
    );
    const { status, headers } = response;
    if (status === 400) throw storedOtherwise(manifest, undefined, registryErrors(response.bytes));
    const subjectSeen = headers['oci-subject'] !== undefined;
    const stored = reportedDigest(headers);
    if (stored === undefined || stored === manifest.digest)
      return { subjectSeen, ...(stored !== undefined && { digest: stored }) };
    if (stored !== digestOf(manifest.bytes, stored)) {
      const text = `Registry ${address.host} changed manifest ${reference} of repository ${address.repository} while storing it: its digest changed from ${manifest.digest} to ${stored}.`;
      throw new TransferError('permanent', text);
    }
    // The same bytes under another algorithm: some registries name content pushed by tag this way, and find it by both digests.
    if ((await head(manifest.digest, signal)) === undefined) throw storedOtherwise(manifest, stored);
    return { subjectSeen, digest: manifest.digest };
  }

  function storedOtherwise({ digest }: Manifest, stored: string | undefined, said = ''): TransferError {
    const where = stored === undefined ? 'only under a SHA-256 digest' : `as ${stored}`;
    const text = `Registry ${address.host} stores manifest ${digest} of repository ${address.repository} ${where}, so clients cannot find it by its digest: use a registry that supports SHA-512, or build the image with SHA-256 digests.${said}`;
    return new TransferError('permanent', text);
  }

  async function hasBlob({ digest, size }: BlobKey, signal: AbortSignal): Promise<boolean> {
    const target = `${base}/blobs/${digest}`;
    const { status, headers } = await send(
      { method: 'HEAD', target, expect: [200, 404, ...noHead], activity: `looking for blob ${digest}` },
      signal,
    );
    if (status === 404) return false;
    if (status === 200 && (byteCount(headers['content-length']) ?? size) === size) return true;
    // HEAD is not conclusive: some servers do not support it, others omit the size.
    const found = await sizeByGet(digest, signal);
    if (found === 'absent') return false;
    if ((found ?? size) !== size) damaged.add(digest);
    return !damaged.has(digest);
  }

  /** The size of a blob in bytes, by a range request for its first byte; undefined if the registry does not report it. */
  async function sizeByGet(digest: string, signal: AbortSignal): Promise<number | 'absent' | undefined> {
    const { status, headers, stream } = await send(
      {
        method: 'GET',
        target: `${base}/blobs/${digest}`,
        headers: { range: 'bytes=0-0' },
        // Some registries answer 400 for a missing blob.
        expect: [200, 206, 400, 404, 416],
        streamed: true,
        activity: `looking for blob ${digest}`,
      },
      signal,
    );
    stream.destroy();
    if (status === 400 || status === 404) return 'absent';
    const [, total = headers['content-length']] = /\/(\d+)$/.exec(headers['content-range'] ?? '') ?? [];
    // 416: the blob is empty.
    return status === 416 ? 0 : byteCount(total);
  }

  const { mount, upload } = createUploads(address, send);

  /** Stores a blob, and verifies that it replaced a damaged one. */
  const uploadAndVerify: BlobSink['upload'] = async (blob, body, signal, rest) => {
    const isReported = await upload(blob, body, signal, rest);
    if (!damaged.delete(blob.digest) || (await hasBlob(blob, signal))) return isReported;
    const text = `Registry ${address.host} keeps a damaged blob ${blob.digest} in repository ${address.repository}: it does not have ${blob.size} bytes, and sending it again did not replace it. Delete it from the storage of the registry, then run the transfer again.`;
    throw new TransferError('permanent', text);
  };

  async function openBlob(
    digest: string,
    offset: number,
    signal: AbortSignal,
    reusesBuffers = false,
  ): Promise<OpenBlob> {
    const response = await send(
      {
        method: 'GET',
        target: `${base}/blobs/${digest}`,
        headers: offset > 0 ? { range: `bytes=${offset}-` } : {},
        expect: offset > 0 ? [200, 206, 416] : [200],
        streamed: true,
        reusesBuffers,
        activity: `reading blob ${digest}`,
      },
      signal,
    );
    const { headers, status, stream } = response;
    if (status === 416) {
      // Unsatisfiable range: a request from the beginning shows the size of the blob, or that ranges are not supported.
      stream.destroy();
      return openBlob(digest, 0, signal, reusesBuffers);
    }
    if (status === 200) return { start: 0, size: byteCount(headers['content-length']), stream };
    const [, start, size] = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(headers['content-range'] ?? '') ?? [];
    return { start: byteCount(start) ?? offset, size: byteCount(size), stream };
  }

  return {
    address,
    known,
    place,
    registry: { origin: address.origin, repository: address.repository },
    manifest,
    head,
    putManifest,
    hasBlob,
    openBlob,

    mount: async (digest, from, signal) => !damaged.has(digest) && mount(digest, from, signal),
    upload: uploadAndVerify,

    async singlePageOfTags(signal) {
      try {
        const activity = 'listing the tags';
        const { headers, bytes } = await send(
          {
            method: 'GET',
            target: tagList,
            expect: [200],
            retried: false,
            limit: maxManifestBytes,
            activity,
          },
          signal,
        );
        if (headers.link !== undefined) return undefined;
        const tags = stringsIn(bytes, 'tags');
        // Some registries cut a list at a round number without a Link header.
        return tags !== undefined && tags.length > 0 && tags.length % 50 === 0 ? undefined : tags;
      } catch (caught) {
        if (signal.aborted || !(caught instanceof TransferError)) throw caught;
        return undefined;
      }
    },

    async tags(signal, mayBeAbsent = false) {
      const list = {
        origin: address.origin,
        target: tagList,
        expect: [200, 404],
        activity: 'listing the tags',
        what: `tags in ${place}`,
        namesIn({ status, bytes }: RegistryResponse) {
          if (status === 404 && mayBeAbsent) return [];
          if (status === 404) throw noRepository(address);
          const tags = stringsIn(bytes, 'tags');
          // Skips names that cannot be tags.
          if (tags !== undefined) return tags.filter(isTag);
          throw new TransferError('permanent', `The list of tags of ${place} cannot be read.`);
        },
      };
      const tags = await readPages(list, send, signal);
      known.tags = new Set(tags);
      return tags;
    },

    async referrers(digest, signal) {
      const found: Descriptor[] = [];
      let target: string | URL | undefined = `${base}/referrers/${digest}`;
      for (let page = 0; target !== undefined; page += 1) {
        if (page >= maxPages) {
          throw new TransferError(
            'permanent',
            `Registry ${address.host} lists the referrers of ${digest} on more than ${maxPages} pages.`,
          );
        }
        const request: RegistryRequest = {
          method: 'GET',
          target,
          headers: { accept: acceptedManifests },
          // The specification demands 404 from a registry without the API; older registries use other statuses.
          expect: page === 0 ? [200, 400, 404, 405, 501] : [200],
          limit: maxManifestBytes,
          activity: `listing the referrers of ${digest}`,
        };
        const response = await send(request, signal);
        if (response.status !== 200) return undefined;
        if (!(response.headers['content-type'] ?? '').includes('json')) return undefined;
        const what = `list of the referrers of ${digest} at ${address.host}`;
        if (!response.bytes) throw new TransferError('permanent', `The ${what} is larger than 4 MiB.`);
        const { bytes } = response;
        found.push(...parsedUnquoted(response, what, () => parseManifest(bytes, what)).children);
        target = nextPage(response.headers.link, new URL(target, address.origin));
      }
      return found;
    },
  };
}

/** Parses a response. If another server than the registry sent it, a failure does not quote it. */
function parsedUnquoted<T>({ quotable, url }: RegistryResponse, what: string, parse: () => T): T {
  try {
    return parse();
  } catch (caught) {
    if (quotable) throw caught;
    const text = `The manifest ${what} cannot be copied: ${url.host}, which the registry redirects to, answered with something else.`;
    throw new TransferError('permanent', text);
  }
}

function noRepository({ host, repository }: ImageAddress): TransferError {
  return new TransferError(
    'permanent',
    `Repository ${repository} does not exist in registry ${host} (404): check its name and remoteURL; some registries also answer 404 if the account may not read it.`,
  );
}
