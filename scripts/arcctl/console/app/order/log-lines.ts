import { bytesText } from '../data/format.ts';
import type { Tone } from '../parts/phase.tsx';

/** A log line for display. */
export interface ReadLine {
  id: number;
  artifact: string;
  /** The original line. */
  raw: string;
  text: string;
  tone: Tone | 'plain';
}

/** Formats the worker's JSON lines as sentences; other lines are unchanged. */
export function readLine(id: number, artifact: string, raw: string): ReadLine {
  const value = jsonOf(raw);
  const said = value && (outcomeOf(value) ?? recordOf(value));
  return { id, artifact, raw, ...(said ?? { text: raw, tone: toneOfText(raw) }) };
}

type Said = Pick<ReadLine, 'text' | 'tone'>;

function jsonOf(raw: string): Record<string, unknown> | undefined {
  if (!raw.startsWith('{')) return undefined;
  try {
    const value: unknown = JSON.parse(raw);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/** Formats the final line of a worker. */
function outcomeOf({
  outcome,
  reason,
  message,
  digest,
  bytes,
  items,
}: Record<string, unknown>): Said | undefined {
  if (outcome === 'failed') return { text: `Failed (${String(reason)}): ${String(message)}`, tone: 'bad' };
  if (outcome !== 'succeeded') return undefined;
  const parts = [
    typeof digest === 'string' ? `Succeeded as ${digest}` : 'Succeeded',
    ...countsText(bytes),
    ...(isRecord(items)
      ? [
          `${String(items.copied)} of ${String(items.total)} items copied, ${String(items.unchanged)} unchanged`,
        ]
      : []),
  ];
  return { text: parts.join(' · '), tone: 'good' };
}

function countsText(bytes: unknown): string[] {
  if (!isRecord(bytes)) return [];
  const named = { copied: 'uploaded', existed: 'existed', mounted: 'mounted' };
  return Object.entries(named).flatMap(([field, word]) => {
    const value = bytes[field];
    return typeof value === 'number' && value > 0 ? [`${bytesText(value)} ${word}`] : [];
  });
}

/** Formats a record of pino, or of another JSON logger. */
function recordOf({ level, msg, message, step, ...rest }: Record<string, unknown>): Said | undefined {
  const text = [step, msg ?? message].filter((each) => typeof each === 'string' && each !== '').join(': ');
  if (text === '') return undefined;
  const { time: _, pid: __, hostname: ___, name: ____, ...fields } = rest;
  const more = Object.entries(fields).map(
    ([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  return { text: [text, ...more].join('  '), tone: toneOfLevel(level) };
}

function toneOfLevel(level: unknown): ReadLine['tone'] {
  const text = String(level).toLowerCase();
  if (text === 'error' || text === 'fatal' || Number(level) >= 50) return 'bad';
  return text.startsWith('warn') || Number(level) >= 40 ? 'warn' : 'plain';
}

function toneOfText(text: string): ReadLine['tone'] {
  if (/\b(error|failed|fatal)\b/i.test(text)) return 'bad';
  if (/\bwarn(ing)?\b/i.test(text)) return 'warn';
  return /^(Status|Pod) /.test(text) ? 'busy' : 'plain';
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
