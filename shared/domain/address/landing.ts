import { AddressError } from './address-error.ts';
import { formatReference, type ImageName, parseImageName } from './reference.ts';

/** How an artifact is called where it lands, from the fields of its spec: the worker that writes it asks here, and so does whoever compares places. */

/**
 * What a registry calls an entry of an OCI image layout. A word alone is a tag, as the specification has it; the destination has to name the
 * repository. Throws an AddressError.
 */
export function entryName(text: string): ImageName {
  const { tag = '', digest } = layoutEntry(text);
  if (/[/:]/.test(tag)) return parseImageName(text);
  return { repository: '', ...(tag !== '' && { tag }), ...(digest !== undefined && { digest }) };
}

/** The name of an image that is to be moved. The part of an index that `spec.platforms` selects has another digest than the whole. */
export function movedName(image: ImageName, platforms: unknown): ImageName {
  if (platforms === undefined) return image;
  const { digest: _, ...rest } = image;
  return rest;
}

/**
 * What an artifact is called at a registry: `override`, else `name`. An override without tag and digest takes those of `name`. Throws an
 * AddressError.
 */
export function landingName(override: unknown, name: ImageName): ImageName {
  if (override === undefined || override === '') return name;
  const given = parseImageName(textOf(override));
  if (given.tag !== undefined || given.digest !== undefined) return given;
  return { ...name, ...given };
}

/** The tag that is written: `latest` for a name that has neither tag nor digest; undefined for one that has a digest alone. */
export function writtenTag({
  tag,
  digest,
}: {
  tag?: string | undefined;
  digest?: string | undefined;
}): string | undefined {
  return tag ?? (digest === undefined ? 'latest' : undefined);
}

/** An entry in the index.json of an OCI image layout: a name of any form, a digest, or both. */
export type LayoutEntry = Pick<ImageName, 'tag' | 'digest'>;

/** The entry that a text names. */
export function layoutEntry(text: string): LayoutEntry {
  const [tag = '', digest] = text.split('@');
  return { ...(tag !== '' && { tag }), ...(digest !== undefined && { digest }) };
}

/** What an artifact is called in a layout: `override` as it is, else the whole `name`. Throws an AddressError. */
export function landingEntry(override: unknown, name: ImageName): LayoutEntry {
  if (override === undefined || override === '') return layoutEntry(formatReference(name));
  return layoutEntry(textOf(override));
}

function textOf(override: unknown): string {
  if (typeof override === 'string') return override;
  throw new AddressError('spec.override must be a string such as "mirror/app:1.0".');
}
