import { ArcError } from '#shared/base/errors';

/** Returns the media type in lower case without parameters; undefined without one. Throws UnsupportedMediaType for a charset other than UTF-8. */
export function mediaTypeOf(contentType: string | undefined): string | undefined {
  const [type = '', ...parameters] = (contentType ?? '').split(';');
  const charset = parameters.map((text) => /^\s*charset\s*=\s*"?([^"\s]*)/i.exec(text)?.[1]).find(Boolean);
  if (charset !== undefined && !/^(utf-?8|us-ascii)$/i.test(charset)) {
    throw new ArcError('UnsupportedMediaType', 'the charset of an event must be utf-8');
  }
  const media = type.trim().toLowerCase();
  return media === '' ? undefined : media;
}

/** True for subtypes `json` and `+json` (CloudEvents JSON format, 3.1), and without a type, which the specification reads as JSON. */
export function isJson(mediaType: string | undefined): boolean {
  return mediaType === undefined || /[/+]json$/.test(mediaType);
}
