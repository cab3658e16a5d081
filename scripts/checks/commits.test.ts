import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { checkCommits, subjectProblem } from './commits.ts';

it.each([
  'watch-bridge: drop resyncs of settled objects',
  'test/cluster, ci: run kubectl of another release',
  `docs: ${'x'.repeat(66)}`,
])('accepts %s', (subject) => expect(subjectProblem(subject)).toBeUndefined());

it.each([
  [`docs: ${'x'.repeat(67)}`, /^has 73 characters in its subject: at most 72 are allowed/],
  ['drop resyncs of settled objects', /area: what/],
  ['docs:', /area: what/],
  ['docs:say it', /area: what/],
  ['Revert "docs: say it"', /area: what/],
  ['', /area: what/],
])('refuses %j', (subject, why) => expect(subjectProblem(subject)).toMatch(why));

it('looks at the commits since the newest tag, and at none outside a repository', async () => {
  const root = await mkdtemp(path.join(tmpdir(), 'arc-commits-'));
  onTestFinished(() => rm(root, { recursive: true }));
  expect(checkCommits(root)).toEqual([]);
  const settings = ['-c', 'user.name=a', '-c', 'user.email=a@example.com', '-c', 'commit.gpgsign=false'];
  const git = (...args: string[]) =>
    execFileSync('git', [...settings, ...args], { cwd: root, stdio: 'ignore' });
  const commit = (subject: string) => git('commit', '--allow-empty', '-m', subject);
  git('init');
  commit('first');
  commit('docs: second');
  expect(checkCommits(root)).toEqual([expect.stringMatching(/^commit [0-9a-f]+ "first" has no subject/)]);
  git('tag', 'v1');
  expect(checkCommits(root)).toEqual([]);
  commit('third');
  expect(checkCommits(root)).toEqual([expect.stringContaining('"third"')]);
});
