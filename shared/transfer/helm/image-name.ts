/** An image name as Kubernetes reads it: `nginx`, `team/app:1.0`, `quay.io/team/app@sha256:...`. */
import type { Reference } from '#shared/domain/address';
import { parseImageName, parseReference } from '../reference/address.ts';
export interface NamedImage {
  /** The registry; default `docker.io`. */
  host: string;
  /** As written: `nginx` instead of `library/nginx`. */
  repository: string;
  tag?: string;
  digest?: string;
  /** The original text. */
  written: string;
}

/** Parses an image name. Throws a config TransferError if it is not valid. */
export function parseNamedImage(written: string): NamedImage {
  const first = written.slice(0, Math.max(0, written.indexOf('/')));
  const reference: Reference =
    /[.:]/.test(first) || first === 'localhost'
      ? parseReference(written)
      : { host: 'docker.io', ...parseImageName(written) };
  return { ...reference, written };
}

/** A key that is equal for equal images. */
export function imageKey({ host, repository, tag, digest }: NamedImage): string {
  return `${host}/${repository}${digest === undefined ? `:${tag ?? 'latest'}` : `@${digest}`}`;
}
