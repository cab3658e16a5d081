import { describe, expect, it } from 'vitest';
import { checkFieldValidation, checkTimeout } from './query-options.ts';

describe('timeout', () => {
  it.each(['', '30', '30s', '1m30s', '1.5h', '10ms'])('may be "%s"', (timeout) => {
    expect(() => checkTimeout(new URLSearchParams({ timeout }))).not.toThrow();
  });
  it.each(['x', '-1s', '1 s', '1y'])('may not be "%s"', (timeout) => {
    expect(() => checkTimeout(new URLSearchParams({ timeout }))).toThrow('time: invalid duration');
  });
});

describe('fieldValidation', () => {
  it.each(['', 'Ignore', 'Strict', 'Warn'])('may be "%s"', (fieldValidation) => {
    expect(() => checkFieldValidation(new URLSearchParams({ fieldValidation }), 'create')).not.toThrow();
  });
  it('names the options of the verb when it is something else', () => {
    const query = new URLSearchParams({ fieldValidation: 'Odd' });
    expect(() => checkFieldValidation(query, 'patch')).toThrow(
      'PatchOptions.meta.k8s.io "" is invalid: fieldValidation: Unsupported value: "Odd": supported values: "", "Ignore", "Strict", "Warn"',
    );
    expect(() => checkFieldValidation(query, 'get')).not.toThrow();
  });
});
