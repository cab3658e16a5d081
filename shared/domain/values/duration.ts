import { longestDuration } from './limits.ts';

const unitMs: Record<string, number> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
};

/**
 * Parses a Go duration (time.ParseDuration) into milliseconds: a sign, then numbers with units, such as `1h30m`, `1.5s`, `-2m`, or `0`.
 * undefined for any other text, and beyond 64 characters.
 */
export function parseDuration(text: string): number | undefined {
  if (text.length > longestDuration) return undefined;
  if (/^[-+]?0$/.test(text)) return 0;
  if (!/^[-+]?((\d+(\.\d*)?|\.\d+)(ns|us|\u00b5s|\u03bcs|ms|s|m|h))+$/.test(text)) return undefined;
  let total = 0;
  for (const [, number, unit] of text.matchAll(/(\d+\.?\d*|\.\d+)(ns|us|\u00b5s|\u03bcs|ms|s|m|h)/g)) {
    total += Number(number) * (unitMs[unit ?? ''] ?? 0);
  }
  return text.startsWith('-') ? -total : total;
}
