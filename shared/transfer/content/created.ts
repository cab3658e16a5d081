import { isRecord } from '#shared/base/meta';

/** `created` of an image's config, in milliseconds since 1970; undefined where it says nothing that can be read. */
export function createdIn(config: Uint8Array): number | undefined {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(config).toString('utf8'));
    const at =
      isRecord(parsed) && typeof parsed.created === 'string' ? Date.parse(parsed.created) : Number.NaN;
    return Number.isNaN(at) ? undefined : at;
  } catch {
    // The config of something that is no image.
    return undefined;
  }
}
