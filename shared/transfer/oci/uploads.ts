import type { ImageAddress } from '#shared/domain/address';
import type { BlobSink } from '../content/content.ts';
import type { Descriptor } from '../content/manifest.ts';
import { TransferError } from '../errors/transfer-error.ts';
import { type BodySource, byteCount } from '../http/body.ts';
import {
  type RegistryClient,
  type RegistryRequest,
  type RegistryResponse,
  reportedDigest,
} from './registry-client.ts';

/** An upload session that the registry has opened. */
type UploadSession = Pick<RegistryResponse, 'headers' | 'url'>;

/** Below this size, resending is cheaper than asking for the offset. */
const minResumeBytes = 1024 * 1024;
/** How often an interrupted upload is resumed. */
const maxResumes = 2;

/** Mounts, resumes or uploads blobs into the repository at `address`, with its client `send`. */
export function createUploads(
  address: ImageAddress,
  send: RegistryClient,
): Required<Pick<BlobSink, 'mount' | 'upload'>> {
  const base = `/v2/${address.repository}/blobs/uploads/`;
  /** Upload sessions that the registry opened because it could not mount the blob. */
  const opened = new Map<string, UploadSession>();
  /** Interrupted upload sessions, of which the registry may hold the first part. */
  const interrupted = new Map<string, { url: URL; resumes: number }>();

  /** The URL of an upload session. Behind a proxy, a registry may return http:// for its own host: its origin is used instead. */
  function uploadURL({ headers: { location }, url: from }: UploadSession): URL {
    if (location === undefined || !URL.canParse(location, from.href)) {
      throw new TransferError(
        'permanent',
        `Registry ${address.host} opened an upload to repository ${address.repository} without a valid Location header.`,
      );
    }
    const url = new URL(location, from);
    const origin = new URL(address.origin);
    if (url.hostname === origin.hostname && url.protocol === 'http:' && origin.protocol === 'https:') {
      url.protocol = origin.protocol;
      url.port = origin.port;
    }
    return url;
  }

  async function open(blob: Descriptor, signal: AbortSignal): Promise<UploadSession> {
    const known = opened.get(blob.digest);
    opened.delete(blob.digest);
    const activity = `starting the upload of blob ${blob.digest}`;
    return known ?? send({ method: 'POST', target: base, expect: [202], writing: true, activity }, signal);
  }

  async function put(
    blob: Descriptor,
    url: URL,
    body: BodySource,
    length: number,
    signal: AbortSignal,
  ): Promise<boolean> {
    const target = new URL(url);
    target.searchParams.set('digest', blob.digest);
    const request: RegistryRequest = {
      method: 'PUT',
      target,
      body,
      length,
      expect: [201, 204],
      writing: true,
      retried: false,
      headers: { 'content-type': 'application/octet-stream' },
      activity: `sending blob ${blob.digest}`,
    };
    return reportedDigest((await send(request, signal)).headers) === blob.digest;
  }

  /** Asks for the offset of an interrupted upload; undefined if resuming it is not worthwhile. */
  async function resumeOffset(
    blob: Descriptor,
    target: URL,
    signal: AbortSignal,
  ): Promise<{ offset: number; url: URL } | undefined> {
    const activity = `asking for the offset of the upload of blob ${blob.digest}`;
    const request = {
      method: 'GET',
      target,
      expect: [204],
      writing: true,
      retried: false,
      activity,
    } as const;
    const state = await send(request, signal);
    const [, last] = /^(?:bytes=)?0-(\d+)$/.exec(state.headers.range ?? '') ?? [];
    const offset = (byteCount(last) ?? -1) + 1;
    return offset >= minResumeBytes && offset <= blob.size ? { offset, url: uploadURL(state) } : undefined;
  }

  /** Stores the blob by resuming an interrupted upload. Rejects if resuming may be retried; undefined if the blob must be sent again. */
  async function resume(
    blob: Descriptor,
    rest: Parameters<BlobSink['upload']>[3],
    signal: AbortSignal,
  ): Promise<boolean | undefined> {
    const known = interrupted.get(blob.digest);
    interrupted.delete(blob.digest);
    if (known === undefined || rest === undefined) return undefined;
    try {
      const left = await resumeOffset(blob, known.url, signal);
      const body = left && rest(left.offset);
      if (left === undefined || body === undefined) return undefined;
      return await put(blob, left.url, () => body, blob.size - left.offset, signal);
    } catch (caught) {
      if (signal.aborted || !(caught instanceof TransferError)) throw caught;
      // The connection may have been interrupted again; a registry that cannot resume the upload answers so each time.
      if (!caught.again || known.resumes >= maxResumes) return undefined;
      interrupted.set(blob.digest, { url: known.url, resumes: known.resumes + 1 });
      throw caught;
    }
  }

  return {
    async mount(digest, from, signal) {
      const request: RegistryRequest = {
        method: 'POST',
        target: `${base}?${new URLSearchParams({ mount: digest, from })}`,
        scopes: [`repository:${from}:pull`],
        expect: [201, 202],
        writing: true,
        activity: `mounting blob ${digest} from ${from}`,
      };
      try {
        const { status, headers, url } = await send(request, signal);
        if (status === 202) opened.set(digest, { headers, url });
        return status === 201 && (reportedDigest(headers) ?? digest) === digest;
      } catch (caught) {
        if (signal.aborted || !(caught instanceof TransferError)) throw caught;
        // Mounting is only an optimisation: a real problem shows again when the blob is sent.
        return false;
      }
    },

    async upload(blob, body, signal, rest) {
      const resumed = await resume(blob, rest, signal);
      if (resumed !== undefined) return resumed;
      const url = uploadURL(await open(blob, signal));
      try {
        return await put(blob, url, body, blob.size, signal);
      } catch (caught) {
        interrupted.set(blob.digest, { url, resumes: 1 });
        throw caught;
      }
    },
  };
}
