import { type ConfigSchema, readConfig } from '#shared/config';
import type { TailBounds } from '#shared/domain';

interface Settings {
  ARC_LOG_TAIL: 'on' | 'off';
  ARC_LOG_TAIL_LINES: number;
  ARC_LOG_TAIL_BYTES: number;
}

/** By hand, as the runtime's own: a schema library would be most of what this function loads. */
const settings: ConfigSchema<Settings> = {
  safeParse({ ARC_LOG_TAIL = 'on', ARC_LOG_TAIL_LINES = '30', ARC_LOG_TAIL_BYTES = '4096' }) {
    const issues: { path: string[]; message: string }[] = [];
    const whole = (name: keyof Settings, text: string, least: number, most: number): number => {
      const value = /^\d{1,6}$/.test(text) ? Number(text) : Number.NaN;
      if (!(value >= least && value <= most))
        issues.push({ path: [name], message: `expected a whole number from ${least} to ${most}` });
      return value;
    };
    const lines = whole('ARC_LOG_TAIL_LINES', ARC_LOG_TAIL_LINES, 1, 200);
    const bytes = whole('ARC_LOG_TAIL_BYTES', ARC_LOG_TAIL_BYTES, 256, 16_384);
    const isSwitch = ARC_LOG_TAIL === 'on' || ARC_LOG_TAIL === 'off';
    if (!isSwitch) issues.push({ path: ['ARC_LOG_TAIL'], message: 'expected on or off' });
    if (!isSwitch || issues.length > 0) return { success: false, error: { issues } };
    return { success: true, data: { ARC_LOG_TAIL, ARC_LOG_TAIL_LINES: lines, ARC_LOG_TAIL_BYTES: bytes } };
  },
};

/** How much of a log a failure quotes; undefined: nothing. Throws Invalid, which names the variable that is wrong. */
export function tailBounds(env: Readonly<Record<string, string | undefined>>): TailBounds | undefined {
  const { ARC_LOG_TAIL, ARC_LOG_TAIL_LINES: lines, ARC_LOG_TAIL_BYTES: bytes } = readConfig(settings, env);
  return ARC_LOG_TAIL === 'off' ? undefined : { lines, bytes };
}
