import { ArcError } from '#shared/base/errors';

/** The media type in lower case without parameters, or undefined when there is none. Everything is UTF-8 (else UnsupportedMediaType). */
export function mediaTypeOf(contentType: string | undefined): string | undefined {
  const [type = '', ...parameters] = (contentType ?? '').split(';');
  const charset = parameters.map((text) => /^\s*charset\s*=\s*"?([^"\s]*)/i.exec(text)?.[1]).find(Boolean);
  if (charset !== undefined && !/^(utf-?8|us-ascii)$/i.test(charset)) {
    throw new ArcError('UnsupportedMediaType', 'the charset of an event must be utf-8');
  }
  const media = type.trim().toLowerCase();
  return media === '' ? undefined : media;
}

/** True for subtypes `json` and `+json` (CloudEvents JSON format, 3.1), and for no type at all, which the specification reads as JSON. */
export function isJson(mediaType: string | undefined): boolean {
  return mediaType === undefined || /[/+]json$/.test(mediaType);
}
