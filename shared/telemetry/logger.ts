import { type DestinationStream, type Logger, pino } from 'pino';
import { printableJson } from '#shared/errors';

export type { Logger } from 'pino';

export interface LoggerOptions {
  /** Which program speaks: the `name` of every line. */
  name: string;
  /** trace, debug, info (default), warn, error, fatal or silent. */
  level?: string;
  /** Where lines go; standard output unless said otherwise. */
  destination?: DestinationStream;
}

// The last line of defence: callers do not log credentials, and these keys are blanked if one does.
const secretKeys = ['authorization', 'password', 'token', 'dockerConfigJson', 'credentials'];

/**
 * A pino logger that writes one JSON object a line, level as a word and time as RFC 3339. No transport: transports
 * start a worker by file path, which a bundled function does not have. No line holds a character that changes a terminal.
 */
export function createLogger(options: LoggerOptions): Logger {
  const settings = {
    base: { name: options.name },
    level: options.level ?? 'info',
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    formatters: { level: (label: string) => ({ level: label }) },
    hooks: { streamWrite: printableJson },
    redact: { paths: secretKeys.flatMap((key) => [key, `*.${key}`]), censor: '[redacted]' },
  };
  return options.destination === undefined ? pino(settings) : pino(settings, options.destination);
}
