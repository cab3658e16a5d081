const minute = 60;
const hour = 60 * minute;
const day = 24;
const year = 365 * day;

/** Formats `main` and, unless it is 0, `rest`: `5m`, `5m3s`. */
function pair(main: number, unit: string, rest: number, restUnit: string): string {
  return rest === 0 ? `${main}${unit}` : `${main}${unit}${rest}${restUnit}`;
}

function ofHours(hours: number, minutes: number): string {
  if (hours < 8) return pair(hours, 'h', minutes % 60, 'm');
  if (hours < 2 * day) return `${hours}h`;
  if (hours < 8 * day) return pair(Math.floor(hours / day), 'd', hours % day, 'h');
  if (hours < 2 * year) return `${Math.floor(hours / day)}d`;
  if (hours < 8 * year) return pair(Math.floor(hours / year), 'y', Math.floor(hours / day) % 365, 'd');
  return `${Math.floor(hours / year)}y`;
}

/**
 * Formats a duration like ages in `kubectl get`, by the rules of duration.HumanDuration of k8s.io/apimachinery: two units if the first is
 * small, otherwise one. Up to two seconds in the future are `0s` (clock skew); beyond that, and for NaN, the result is `<invalid>`.
 */
export function humanDuration(milliseconds: number): string {
  const seconds = Math.trunc(milliseconds / 1000);
  if (!(seconds >= -1)) return '<invalid>';
  if (seconds < 0) return '0s';
  if (seconds < 2 * minute) return `${seconds}s`;
  const minutes = Math.floor(seconds / minute);
  if (minutes < 10) return pair(minutes, 'm', seconds % minute, 's');
  if (minutes < 180) return `${minutes}m`;
  return ofHours(Math.floor(seconds / hour), minutes);
}

/** Returns the age of an RFC 3339 timestamp; `<invalid>` if it cannot be parsed. */
export function age(timestamp: string, now: Date): string {
  return humanDuration(now.getTime() - Date.parse(timestamp));
}
