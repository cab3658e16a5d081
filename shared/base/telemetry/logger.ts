import { type DestinationStream, type Logger, pino } from 'pino';
import { printableJson } from '#shared/base/errors';

export type { Logger } from 'pino';

export interface LoggerOptions {
  /** The name of the program, in every line. */
  name: string;
  /** trace, debug, info (default), warn, error, fatal or silent. */
  level?: string;
  /** The destination of lines; default standard output. */
  destination?: DestinationStream;
}

// Callers do not log credentials. If one does by mistake, the values of these keys are redacted.
const secretKeys = ['authorization', 'password', 'token', 'dockerConfigJson', 'credentials'];

/**
 * Creates a pino logger: one JSON object per line, level as a word, time as RFC 3339. Uses no transport: transports
 * start a worker by file path, which a bundled function does not have. Terminal control characters are escaped.
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
