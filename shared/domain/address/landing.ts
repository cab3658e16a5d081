import { AddressError } from './address-error.ts';
import { formatReference, type ImageName, parseImageName } from './reference.ts';

/** The name of an artifact at its destination, computed from its spec: by the worker that writes it, and by the plan that compares places. */

/**
 * Returns the registry name of an entry of an OCI image layout. A bare word is a tag (OCI image specification), so the destination has to
 * name the repository. Throws an AddressError.
 */
export function entryName(text: string): ImageName {
  const { tag = '', digest } = layoutEntry(text);
  if (/[/:]/.test(tag)) return parseImageName(text);
  return { repository: '', ...(tag !== '' && { tag }), ...(digest !== undefined && { digest }) };
}

/** Returns the name under which an image is written. The platforms that `spec.platforms` selects form an index with a digest of its own. */
export function movedName(image: ImageName, platforms: unknown): ImageName {
  if (platforms === undefined) return image;
  const { digest: _, ...rest } = image;
  return rest;
}

/**
 * Returns the name of an artifact at a registry: `override`, else `name`. An override without tag and digest takes those of `name`.
 * Throws an AddressError.
 */
export function landingName(override: unknown, name: ImageName): ImageName {
  if (override === undefined || override === '') return name;
  const given = parseImageName(textOf(override));
  if (given.tag !== undefined || given.digest !== undefined) return given;
  return { ...name, ...given };
}

/** Returns the tag that is written: `latest` for a name with neither tag nor digest; undefined for a name with a digest only. */
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

/** Parses the name of an entry of a layout. */
export function layoutEntry(text: string): LayoutEntry {
  const [tag = '', digest] = text.split('@');
  return { ...(tag !== '' && { tag }), ...(digest !== undefined && { digest }) };
}

/** Returns the name of an artifact in a layout: `override` unchanged, else the whole `name`. Throws an AddressError. */
export function landingEntry(override: unknown, name: ImageName): LayoutEntry {
  if (override === undefined || override === '') return layoutEntry(formatReference(name));
  return layoutEntry(textOf(override));
}

function textOf(override: unknown): string {
  if (typeof override === 'string') return override;
  throw new AddressError('spec.override must be a string such as "mirror/app:1.0".');
}
