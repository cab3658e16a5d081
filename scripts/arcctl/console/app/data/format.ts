/** Formats of figures and times. Time zone and language come from the browser. */

const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];

/** Formats `12.3 MiB`, with at most three digits. */
export function bytesText(bytes: number): string {
  let [value, unit] = [bytes, 0];
  while (value >= 1000 && unit < units.length - 1) [value, unit] = [value / 1024, unit + 1];
  const digits = unit === 0 || value >= 100 ? 0 : value >= 10 ? 1 : 2;
  return `${Number(value.toFixed(digits))} ${units[unit]}`;
}

/** Formats `45s`, `3m 20s`, `2h 5m`, `3d 4h`. */
export function durationText(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return pair(minutes, 'm', seconds % 60, 's');
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return pair(hours, 'h', minutes % 60, 'm');
  return pair(Math.floor(hours / 24), 'd', hours % 24, 'h');
}

function pair(first: number, unit: string, second: number, rest: string): string {
  return second === 0 ? `${first}${unit}` : `${first}${unit} ${second}${rest}`;
}

/** Formats `just now`, `5m ago`, `in 10s`. */
export function agoText(atMs: number, nowMs: number): string {
  const ms = nowMs - atMs;
  if (Math.abs(ms) < 5_000) return 'just now';
  const whole = durationText(Math.abs(ms)).split(' ')[0] ?? '';
  return ms > 0 ? `${whole} ago` : `in ${whole}`;
}

const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long' });
// Short formats for columns and axes: a 24-hour clock needs no AM and PM.
const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
const second = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
});

/** Formats the exact time in the viewer's time zone. */
export function exactText(atMs: number): string {
  return exact.format(atMs);
}

export function clockText(atMs: number): string {
  return clock.format(atMs);
}

export function secondText(atMs: number): string {
  return second.format(atMs);
}

export function percentText(share: number): string {
  const percent = share * 100;
  return `${percent > 0 && percent < 1 ? '<1' : Math.floor(percent)}%`;
}

/** Formats `1 Order`, `3 Orders`. */
export function countText(count: number, noun: string): string {
  return `${count.toLocaleString()} ${noun}${count === 1 ? '' : 's'}`;
}

/** Parses a Kubernetes time to milliseconds; undefined for an empty one. */
export function instantOf(text: string): number | undefined {
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? undefined : ms;
}
