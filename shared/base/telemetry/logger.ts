import { type DestinationStream, type Logger, pino } from 'pino';
import { printableJson } from '#shared/base/errors';

export type { Logger } from 'pino';

export interface LoggerOptions {
  /** The name of the program, in every line. */
  name: string;
  /** trace, debug, info (default), warn, error, fatal or silent. */
  level?: string;
  /** Where lines go; standard output unless said otherwise. */
  destination?: DestinationStream;
}

// Callers do not log credentials. If one does, the values of these keys are redacted.
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
