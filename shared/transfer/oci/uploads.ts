import type { BlobSink } from '../content/content.ts';
import type { Descriptor } from '../content/manifest.ts';
import { TransferError } from '../errors/transfer-error.ts';
import { type BodySource, byteCount } from '../http/body.ts';
import type { ImageAddress } from '../reference/image-address.ts';
import {
  type RegistryClient,
  type RegistryRequest,
  type RegistryResponse,
  reportedDigest,
} from './registry-client.ts';

/** An upload that the registry has opened. */
type Opened = Pick<RegistryResponse, 'headers' | 'url'>;

/** Less is sent again sooner than it is asked for. */
const minLeftBytes = 1024 * 1024;
/** How often one broken upload is gone on with. */
const mostTries = 2;

/** The ways of a blob into the repository at `address`, which `send` belongs to. */
export function createUploads(
  address: ImageAddress,
  send: RegistryClient,
): Required<Pick<BlobSink, 'mount' | 'upload'>> {
  const base = `/v2/${address.repository}/blobs/uploads/`;
  /** Uploads that the registry opened because it could not mount the blob. */
  const opened = new Map<string, Opened>();
  /** Uploads that broke off, of which the registry may hold the beginning. */
  const broken = new Map<string, { url: URL; tries: number }>();

  /** The URL of an upload. A registry behind a proxy may return http:// for its own host: then its origin is used. */
  function uploadURL({ headers: { location }, url: from }: Opened): URL {
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

  async function open(blob: Descriptor, signal: AbortSignal): Promise<Opened> {
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
  ): Promise<void> {
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
    await send(request, signal);
  }

  /** Asks how much of a broken upload the registry holds; undefined if it is not worth going on with. */
  async function leftOf(
    blob: Descriptor,
    target: URL,
    signal: AbortSignal,
  ): Promise<{ offset: number; url: URL } | undefined> {
    const activity = `asking for the state of the upload of blob ${blob.digest}`;
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
    return offset >= minLeftBytes && offset <= blob.size ? { offset, url: uploadURL(state) } : undefined;
  }

  /** True if the blob is stored by going on with a broken upload. Rejects if that is to be tried again; otherwise the blob is sent anew. */
  async function goOn(
    blob: Descriptor,
    rest: Parameters<BlobSink['upload']>[3],
    signal: AbortSignal,
  ): Promise<boolean> {
    const known = broken.get(blob.digest);
    broken.delete(blob.digest);
    if (known === undefined || rest === undefined) return false;
    try {
      const left = await leftOf(blob, known.url, signal);
      const body = left && rest(left.offset);
      if (left === undefined || body === undefined) return false;
      await put(blob, left.url, () => body, blob.size - left.offset, signal);
      return true;
    } catch (caught) {
      if (signal.aborted || !(caught instanceof TransferError)) throw caught;
      // The connection may have broken again. A registry that cannot go on with an upload says so each time.
      if (!caught.again || known.tries >= mostTries) return false;
      broken.set(blob.digest, { url: known.url, tries: known.tries + 1 });
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
        // Mounting is only an optimisation: a real problem appears again when the blob is sent.
        return false;
      }
    },

    async upload(blob, body, signal, rest) {
      if (await goOn(blob, rest, signal)) return;
      const url = uploadURL(await open(blob, signal));
      try {
        await put(blob, url, body, blob.size, signal);
      } catch (caught) {
        broken.set(blob.digest, { url, tries: 1 });
        throw caught;
      }
    },
  };
}
