import { describe, expect, it } from 'vitest';
import { print } from './terminal.ts';

describe('print', () => {
  const result = { name: 'app\u009b2J\u202e', warnings: ['odd \u009b2J'] };
  function printed(json: boolean): { stdout: string; stderr: string } {
    const text = { stdout: '', stderr: '' };
    const terminal = {
      stdout: { write: (more: string) => (text.stdout += more) },
      stderr: { write: (more: string) => (text.stderr += more) },
      env: {},
      signal: new AbortController().signal,
    };
    print(terminal, json, result, [`Copied ${result.name}.`]);
    return text;
  }

  it('cannot manipulate a terminal, as text or as JSON', () => {
    const { stdout, stderr } = printed(true);
    expect(stdout).toMatch(/^[ -~]+\n$/);
    expect(JSON.parse(stdout)).toEqual(result);
    expect(stderr).toBe('');
  });

  it('prints the result, and warnings to stderr', () => {
    expect(printed(false)).toEqual({
      stdout: 'Copied app\\u009b2J\\u202e.\n',
      stderr: 'Warning: odd \\u009b2J\n',
    });
  });
});
