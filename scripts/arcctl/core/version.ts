import { isRecord } from '#shared/base/meta';
import { shippedText } from './shipped.ts';

/** The version of this program, as package.json has it. */
export function clientVersion(): string {
  const parsed: unknown = JSON.parse(shippedText('package.json'));
  return isRecord(parsed) && typeof parsed.version === 'string' ? parsed.version : 'unknown';
}
