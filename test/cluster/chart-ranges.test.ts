import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { fc } from '#shared/base/testing';
import { versionRange } from '../../shared/transfer/helm/version-range.ts';
import { versionOf } from '../../shared/transfer/helm/versions.ts';
import { registryTools } from '../fixtures/image/registry-tools.ts';

const tools = registryTools();

const prerelease = fc.constantFrom('', '', '', '-0', '-alpha', '-rc.1', '-beta.2');
const number = fc.constantFrom('0', '1', '2', '3', '10', '11');
const field = fc.oneof({ weight: 5, arbitrary: number }, fc.constantFrom('x', 'X', '*'));
const partial = fc
  .tuple(fc.constantFrom('', '', 'v'), fc.array(field, { minLength: 1, maxLength: 3 }), prerelease)
  .map(([v, fields, end]) => v + fields.join('.') + end);
const operator = fc.constantFrom('', '=', '!=', '>', '<', '>=', '=>', '<=', '=<', '~', '~>', '^');
const bound = fc.tuple(operator, fc.constantFrom('', ' '), partial).map((parts) => parts.join(''));
const group = fc.oneof(
  fc
    .tuple(fc.array(bound, { minLength: 1, maxLength: 3 }), fc.constantFrom(' ', ', ', ','))
    .map(([bounds, by]) => bounds.join(by)),
  fc.tuple(partial, partial).map((ends) => ends.join(' - ')),
);
const range = fc.array(group, { minLength: 1, maxLength: 3 }).map((groups) => groups.join(' || '));
const version = fc
  .tuple(number, number, number, prerelease)
  .map(([major, minor, patch, end]) => `${major}.${minor}.${patch}${end}`);

describe.skipIf(tools === undefined)('ranges of charts', () => {
  it('take the versions that the library of Helm takes', () => {
    const asked = {
      ranges: [...new Set(fc.sample(range, 1_000))],
      versions: [...new Set(fc.sample(version, 60))],
    };
    const program = path.join(tools ?? '', 'helm-judge');
    const { stdout, stderr } = spawnSync(program, ['ranges'], {
      input: JSON.stringify(asked),
      timeout: 60_000,
    });
    const judged = JSON.parse(stdout.toString() || expect.fail(stderr.toString())) as Record<
      string,
      string | null
    >;
    const versions = asked.versions.map((text) => versionOf(text) ?? expect.fail());
    const wrong = asked.ranges.flatMap((text) => {
      const takes = versionRange(text);
      const ours = takes ? versions.map((one) => (takes(one) ? '1' : '0')).join('') : null;
      return ours === judged[text] ? [] : [{ range: text, ours, theirs: judged[text] }];
    });
    expect(asked.ranges.length).toBeGreaterThan(500);
    expect(wrong).toEqual([]);
  });
});
