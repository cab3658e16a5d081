import { AddressError } from './address-error.ts';
import { isDigest } from './digest.ts';

/** An image within a registry: a repository and a version in it. */
export interface ImageName {
  repository: string;
  tag?: string;
  digest?: string;
}

/** `host[:port]/path[:tag][@digest]`. */
export interface Reference extends ImageName {
  host: string;
}

// The grammar of the OCI distribution specification 1.1, "Pulling manifests".
const component = '[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*';
const repositoryForm = new RegExp(`^${component}(?:/${component})*$`);
const tagForm = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/;
const hostForm = /^(?:[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9a-fA-F:.]+\])(?::[0-9]{1,5})?$/;
const loopbackForm = /^(?:localhost|127(?:\.\d+){3}|\[::1\])(?::\d+)?$/;
const maxRepositoryLength = 255;

function refuse(text: string, why: string): never {
  throw new AddressError(`The image reference "${text.slice(0, 300)}" cannot be used: ${why}.`);
}

/** Returns true for a valid tag. */
export function isTag(text: string): boolean {
  return tagForm.test(text);
}

/** Returns true for a valid repository name. */
export function isRepository(text: string): boolean {
  return text.length <= maxRepositoryLength && repositoryForm.test(text);
}

/** Parses `path[:tag][@digest]`. Throws an AddressError that says which part is invalid. */
export function parseImageName(text: string): ImageName {
  const at = text.indexOf('@');
  const digest = at === -1 ? undefined : text.slice(at + 1);
  const beforeDigest = at === -1 ? text : text.slice(0, at);
  const colon = beforeDigest.lastIndexOf(':');
  const hasTag = colon > beforeDigest.lastIndexOf('/');
  const tag = hasTag ? beforeDigest.slice(colon + 1) : undefined;
  const repository = hasTag ? beforeDigest.slice(0, colon) : beforeDigest;
  if (repository === '') refuse(text, 'the repository is missing');
  if (!repositoryForm.test(repository)) {
    refuse(
      text,
      `"${repository}" is not a repository path (lower-case letters, digits, ".", "_", "-", parts separated by "/")`,
    );
  }
  if (repository.length > maxRepositoryLength)
    refuse(text, `the repository is longer than ${maxRepositoryLength} characters`);
  if (tag !== undefined && !tagForm.test(tag)) {
    refuse(text, `"${tag}" is not a tag (letters, digits, "_", ".", "-", at most 128 characters)`);
  }
  if (digest !== undefined && !isDigest(digest)) refuse(text, `"${digest}" is not a sha256 or sha512 digest`);
  return { repository, ...(tag === undefined ? {} : { tag }), ...(digest === undefined ? {} : { digest }) };
}

/** Parses `host[:port]/path[:tag][@digest]` with a required host. Throws an AddressError. */
export function parseReference(text: string): Reference {
  const slash = text.indexOf('/');
  const host = slash === -1 ? '' : text.slice(0, slash);
  const looksLikeHost = host === 'localhost' || /[.:]/.test(host);
  if (!looksLikeHost || !isHost(host)) {
    refuse(
      text,
      'it does not start with a registry host such as "registry.example.com/" or "localhost:5000/"',
    );
  }
  return { host, ...parseImageName(text.slice(slash + 1)) };
}

/** The inverse of parseReference; without a host the inverse of parseImageName. */
export function formatReference(reference: ImageName & { host?: string }): string {
  const host = reference.host === undefined ? '' : `${reference.host}/`;
  const tag = reference.tag === undefined ? '' : `:${reference.tag}`;
  const digest = reference.digest === undefined ? '' : `@${reference.digest}`;
  return `${host}${reference.repository}${tag}${digest}`;
}

/** Returns true for a DNS name, an IPv4 address or a bracketed IPv6 address, with or without a port. */
export function isHost(text: string): boolean {
  const port = /:([0-9]+)$/.exec(text.replace(/\[.*\]/, 'v6'))?.[1];
  return hostForm.test(text) && (port === undefined || (Number(port) > 0 && Number(port) < 65_536));
}

/** Returns true for a loopback host, with or without a port. */
export function isLoopback(host: string): boolean {
  return loopbackForm.test(host);
}

/** Returns the URL of a registry named by its host alone: plain HTTP on loopback, as with `docker pull`. */
export function registryURL(host: string): string {
  return `${isLoopback(host) ? 'http' : 'https'}://${host}`;
}
