import { ArcError } from '#shared/base/errors';

const pattern = /^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/;

/** Parses an ISO 8601 duration of days and smaller units (`PT0.2S`, `PT1M`, `P1DT2H`) into milliseconds. Throws Invalid, naming `field`. */
export function parseDuration(text: string, field: string): number {
  const match = pattern.exec(text);
  if (match === null || text.endsWith('P') || text.endsWith('T')) {
    throw new ArcError('Invalid', `${field}: "${text}" is not an ISO 8601 duration (such as PT0.2S or PT1M)`);
  }
  const [days = 0, hours = 0, minutes = 0, seconds = 0] = match.slice(1).map((part) => Number(part ?? 0));
  return Math.round((((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1000);
}
