import { AddressError } from './address-error.ts';
import type { Plain } from './image-address.ts';

const longestPath = 1024;

/**
 * Returns the URL of `path` below an Endpoint's `remoteURL` (`https://host[:port][/prefix][?query]`, `http://...` or without a scheme).
 * `path` is unescaped names with `/` between them; names that lead out of the prefix are refused. Throws an AddressError.
 */
export function fileURL(remoteURL: string, path: string, tls: Plain = {}): URL {
  const url = parseBase(remoteURL, tls);
  const names = checkedPath(path).map(escapeName);
  url.pathname = [...url.pathname.split('/').filter((name) => name !== ''), ...names].join('/');
  return url;
}

/** Splits a path into names. Throws an AddressError for names that are empty or that some server resolves to another place. */
function checkedPath(path: string): string[] {
  const names = path.split('/');
  const refuse = (why: string): never => {
    throw new AddressError(`The path "${path.slice(0, 200)}" cannot be used: ${why}.`);
  };
  if (path.length > longestPath) refuse(`it is longer than ${longestPath} characters`);
  if (names.includes('')) refuse('it must not begin or end with a slash, or have two in a row');
  if (names.some((name) => name === '.' || name === '..')) refuse('"." and ".." are not allowed in it');
  if (/[\p{Cc}\\]/u.test(path)) refuse('control characters and backslashes are not allowed in it');
  if (!path.isWellFormed()) refuse('it is not well-formed Unicode');
  return names;
}

/** Returns the decoded names in the path of a URL; none for the root. Throws an AddressError unless the path is percent-encoded UTF-8. */
export function namesOf({ pathname }: URL): string[] {
  try {
    return pathname.split('/').flatMap((name) => (name === '' ? [] : [decodeURIComponent(name)]));
  } catch {
    throw new AddressError(
      `The path "${pathname.slice(0, 200)}" cannot be used: a "%" in it has to be written %25.`,
    );
  }
}

/** A name that is percent-encoded, or as it is where it cannot be: `%` before anything but two hexadecimal digits stands for itself. */
export function decodedName(name: string): string {
  try {
    return decodeURIComponent(name.replace(/%(?![0-9a-f]{2})/gi, '%25'));
  } catch {
    // Escapes of other bytes than UTF-8.
    return name;
  }
}

/** Percent-encodes everything except unreserved characters (RFC 3986, 2.3), as AWS Signature Version 4 requires. */
export function escapeName(name: string): string {
  const code = (character: string) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
  return encodeURIComponent(name).replace(/[!'()*]/g, code);
}

function parseBase(remoteURL: string, tls: Plain): URL {
  const scheme = tls.plainHTTP === true ? 'http' : 'https';
  const text = remoteURL.includes('://') ? remoteURL : `${scheme}://${remoteURL}`;
  const shown = `The Endpoint's remoteURL "${remoteURL.slice(0, 300)}" cannot be used`;
  if (!URL.canParse(text))
    throw new AddressError(`${shown}: it must have the form https://host[:port][/prefix].`);
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') {
    const fix = 'move them into a Secret and name the Secret in spec.secretRef';
    throw new AddressError(`The Endpoint's remoteURL contains credentials: ${fix}.`);
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw new AddressError(`${shown}: its scheme must be https or http.`);
  if (url.protocol === 'https:' && tls.plainHTTP === true) {
    const fix = 'write http:// or remove plainHTTP';
    throw new AddressError(`${shown}: its scheme is https, but spec.tls.plainHTTP is true: ${fix}.`);
  }
  url.hash = '';
  return url;
}
