const minute = 60;
const hour = 60 * minute;
const day = 24;
const year = 365 * day;

/** `main` alone when `rest` is nothing, both otherwise: `5m`, `5m3s`. */
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
 * A length of time as `kubectl get` prints ages, by the rules of k8s.io/apimachinery duration.HumanDuration: two units
 * where the first is small, one where it is not. Up to two seconds in the future count as now (clocks differ),
 * beyond that it is `<invalid>`, as is a value that is not a number.
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

/** The age at `now` of an RFC 3339 timestamp; `<invalid>` for any other text. */
export function age(timestamp: string, now: Date): string {
  return humanDuration(now.getTime() - Date.parse(timestamp));
}
