import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { ArcError } from '#shared/base/errors';
import { readConfig } from './read-config.ts';

const schema = z.object({
  PORT: z.coerce.number().int().min(1).max(65_535).default(8080),
  LOG_LEVEL: z.enum(['info', 'debug']).default('info'),
  TOKEN: z.string().min(8),
});

function failure(env: Record<string, string | undefined>): ArcError {
  try {
    readConfig(schema, env);
  } catch (caught) {
    return ArcError.from(caught);
  }
  throw new Error('expected a refusal');
}

describe('readConfig', () => {
  it('returns typed values and defaults, and ignores other variables', () => {
    expect(readConfig(schema, { PORT: '9000', TOKEN: '12345678', HOME: '/x' })).toEqual({
      PORT: 9000,
      LOG_LEVEL: 'info',
      TOKEN: '12345678',
    });
  });

  it('reads the empty text as unset', () => {
    expect(readConfig(schema, { PORT: '', LOG_LEVEL: '', TOKEN: '12345678' }).PORT).toBe(8080);
    expect(failure({ TOKEN: '' }).message).toMatch(/TOKEN: .*\(it is not set\)/);
  });

  it('names every wrong variable and its shape, never its value', () => {
    const error = failure({ PORT: '70000', LOG_LEVEL: 'chatty', TOKEN: 's3cret' });
    expect(error.code).toBe('Invalid');
    expect(error.message).toMatch(/PORT: .*65535.*\(it is a whole number\)/);
    expect(error.message).toMatch(/LOG_LEVEL: .*"info".*\(it is text of 6 characters\)/);
    expect(error.message).toMatch(/TOKEN/);
    expect(JSON.stringify([error.message, error.details])).not.toMatch(/70000|chatty|s3cret/);
    expect(error.details?.causes?.map((cause) => cause.field)).toEqual(['PORT', 'LOG_LEVEL', 'TOKEN']);
  });
});
