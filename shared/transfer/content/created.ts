import { isRecord } from '#shared/base/meta';

/** `created` of an image config, in milliseconds since the epoch; undefined if absent or unreadable. */
export function createdIn(config: Uint8Array): number | undefined {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(config).toString('utf8'));
    const at =
      isRecord(parsed) && typeof parsed.created === 'string' ? Date.parse(parsed.created) : Number.NaN;
    return Number.isNaN(at) ? undefined : at;
  } catch {
    // The config of an artifact that is not an image.
    return undefined;
  }
}
