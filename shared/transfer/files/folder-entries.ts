import type { XmlElement } from '@rgrove/parse-xml';
import { decodedName } from '#shared/domain/address';
import { byteCount } from '../http/body.ts';
import { rootOf } from '../http/xml.ts';

/** An entry directly in a folder. */
export interface FolderEntry {
  name: string;
  size?: number;
  isFolder: boolean;
}

/** Parses the response to a PROPFIND for `folder`; undefined if it is not a multistatus document. */
export function entriesOfMultistatus(bytes: Uint8Array, folder: URL): FolderEntry[] | undefined {
  const root = rootOf(bytes);
  if (localName(root) !== 'multistatus') return undefined;
  return children(root, 'response').flatMap((response) => {
    const href = children(response, 'href')[0]?.text.trim() ?? '';
    const named = entryAt(href, folder);
    if (named === undefined) return [];
    const props = children(response, 'propstat').flatMap((found) => children(found, 'prop'));
    const isFolder = props.some((prop) =>
      children(prop, 'resourcetype').some((type) => children(type, 'collection').length > 0),
    );
    const size = byteCount(props.flatMap((prop) => children(prop, 'getcontentlength'))[0]?.text.trim());
    return [
      { ...named, isFolder: isFolder || named.isFolder, ...(!isFolder && size !== undefined && { size }) },
    ];
  });
}

/** Parses an index page of `folder`: JSON of nginx or Caddy, or HTML with links to its entries. Undefined for anything else. */
export function entriesOfIndex(
  bytes: Uint8Array,
  contentType: string,
  folder: URL,
): FolderEntry[] | undefined {
  const text = Buffer.from(bytes).toString('utf8');
  if (contentType.includes('json')) return entriesOfJson(text);
  if (!contentType.includes('html')) return undefined;
  const found = new Map<string, FolderEntry>();
  for (const [, ...quoted] of text.matchAll(
    /<a\b[^>]{0,2000}?\bhref\s{0,9}=\s{0,9}(?:"([^"]*)"|'([^']*)')/gi,
  )) {
    const href = unescaped(quoted.find((one) => one !== undefined) ?? '');
    const entry = entryAt(href, folder);
    if (entry !== undefined) found.set(entry.name, entry);
  }
  return [...found.values()];
}

function entriesOfJson(text: string): FolderEntry[] | undefined {
  let list: unknown;
  try {
    list = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!Array.isArray(list)) return undefined;
  const entries = list.map((one: unknown): FolderEntry | undefined => {
    const { name, type, is_dir: isDir, size } = (one ?? {}) as Record<string, unknown>;
    if (typeof name !== 'string' || /^(?:\.{0,2}|.*\/.+)$/s.test(name)) return undefined;
    const isFolder = type === 'directory' || isDir === true || name.endsWith('/');
    const known = !isFolder && typeof size === 'number' && Number.isSafeInteger(size) && size >= 0;
    return { name: name.replace(/\/$/, ''), isFolder, ...(known && { size }) };
  });
  // An unreadable entry may be a file: without it the list would be incomplete.
  return entries.includes(undefined) ? undefined : entries.filter((entry) => entry !== undefined);
}

/** The entry that a link names directly below `folder`; undefined for other links, such as the parent folder or another sort order. */
function entryAt(href: string, folder: URL): FolderEntry | undefined {
  const url = URL.parse(href, folder.href);
  if (url === null || url.host !== folder.host || url.search !== '') return undefined;
  const base = folder.pathname.split('/').map(decodedName).join('/');
  const path = url.pathname.split('/').map(decodedName);
  const [name = '', ...rest] = path.slice(folder.pathname.split('/').length - 1);
  if (
    name === '' ||
    path.slice(0, folder.pathname.split('/').length - 1).join('/') !== base.replace(/\/$/, '')
  )
    return undefined;
  if (rest.length > 1 || (rest.length === 1 && rest[0] !== '')) return undefined;
  return { name, isFolder: rest.length === 1 };
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

function unescaped(text: string): string {
  return text.replace(
    /&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(amp|lt|gt|quot|apos));/gi,
    (all, decimal, hex, name) => {
      if (name !== undefined) return entities[String(name).toLowerCase()] ?? all;
      const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
      return code <= 0x10ffff ? String.fromCodePoint(code) : all;
    },
  );
}

/** The name without its namespace prefix, which each server chooses. */
function localName(element: XmlElement | undefined): string | undefined {
  return element?.name.replace(/^.*:/, '');
}

function children(parent: XmlElement | undefined, name: string): XmlElement[] {
  return (parent?.children ?? []).filter(
    (node): node is XmlElement => 'name' in node && localName(node as XmlElement) === name,
  );
}
