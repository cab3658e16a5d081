import { parseImageName, parseReference, type Reference } from '../reference/reference.ts';

/** An image as Kubernetes reads its name: `nginx`, `team/app:1.0`, `quay.io/team/app@sha256:...`. */
export interface NamedImage {
  /** The registry; `docker.io` where the name has none. */
  host: string;
  /** As the name has it: `nginx`, and not `library/nginx`. */
  repository: string;
  tag?: string;
  digest?: string;
  /** The name as it was written. */
  written: string;
}

/** The image that a name means. Throws a config TransferError for what is no name of an image. */
export function namedImage(written: string): NamedImage {
  const first = written.slice(0, Math.max(0, written.indexOf('/')));
  const reference: Reference =
    /[.:]/.test(first) || first === 'localhost'
      ? parseReference(written)
      : { host: 'docker.io', ...parseImageName(written) };
  return { ...reference, written };
}

/** What tells images apart. */
export function imageKey({ host, repository, tag, digest }: NamedImage): string {
  return `${host}/${repository}${digest === undefined ? `:${tag ?? 'latest'}` : `@${digest}`}`;
}
