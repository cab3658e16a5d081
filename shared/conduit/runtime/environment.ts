import type { ConfigSchema } from '#shared/base/config';
import { times } from './times.ts';

/** The environment of a function's container. The first three variables are Knative's. */
export interface Environment {
  PORT: number;
  K_SERVICE?: string;
  K_REVISION?: string;
  LOG_LEVEL: string;
  /** Deadline of one delivery; see times.ts. */
  ARC_DEADLINE_SECONDS: number;
  /** Time to drain at the end; see times.ts. */
  ARC_DRAIN_SECONDS: number;
}

const levels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'];

/** Without a schema library, which would be a third of what every function loads to start. */
export const environment: ConfigSchema<Environment> = {
  safeParse(env) {
    const issues: { path: string[]; message: string }[] = [];
    const refuse = (name: string, expected: string): void => {
      issues.push({ path: [name], message: `expected ${expected}` });
    };
    const number = (name: string, least: number, most: number, fallback: number, whole = false): number => {
      const text = env[name];
      if (text === undefined) return fallback;
      const value = text.trim() === '' ? Number.NaN : Number(text);
      if (value >= least && value <= most && (!whole || Number.isInteger(value))) return value;
      refuse(name, `a ${whole ? 'whole ' : ''}number from ${least} to ${most}`);
      return fallback;
    };
    const { K_SERVICE, K_REVISION, LOG_LEVEL = 'info' } = env;
    if (!levels.includes(LOG_LEVEL)) refuse('LOG_LEVEL', `one of ${levels.join(', ')}`);
    const data: Environment = {
      PORT: number('PORT', 0, 65_535, 8080, true),
      ...(K_SERVICE !== undefined && { K_SERVICE }),
      ...(K_REVISION !== undefined && { K_REVISION }),
      LOG_LEVEL,
      ARC_DEADLINE_SECONDS: number('ARC_DEADLINE_SECONDS', 1, 600, times.deadline),
      ARC_DRAIN_SECONDS: number('ARC_DRAIN_SECONDS', 0, 600, times.drain),
    };
    return issues.length > 0 ? { success: false, error: { issues } } : { success: true, data };
  },
};
