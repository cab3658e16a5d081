import { execFileSync } from 'node:child_process';

const mostCharacters = 72;
const form = /^[A-Za-z][\w ,./-]{0,40}: \S/;
/** Number of commits to check if there is no tag. */
const newest = 50;

/** Checks the subjects of the commits since the newest tag, or of the newest 50. @returns one line per problem; none outside a repository. */
export function checkCommits(root: string): string[] {
  const tag = git(root, 'describe', '--tags', '--abbrev=0');
  const range = tag === undefined ? [`--max-count=${newest}`] : [`${tag}..HEAD`];
  const log = git(root, 'log', '--no-merges', '--format=%h %s', ...range);
  return (log ?? '').split('\n').flatMap((line) => {
    const [commit = '', ...words] = line.split(' ');
    const problem = commit === '' ? undefined : subjectProblem(words.join(' '));
    return problem === undefined ? [] : [`commit ${commit} "${words.join(' ')}" ${problem}`];
  });
}

/** Returns the problem of a commit subject; undefined for a valid one. */
export function subjectProblem(subject: string): string | undefined {
  if (subject.length > mostCharacters)
    return `has ${subject.length} characters in its subject: at most ${mostCharacters} are allowed, the rest belongs into the body`;
  return form.test(subject) ? undefined : 'has no subject of the form "area: what"';
}

function git(cwd: string, ...args: string[]): string | undefined {
  try {
    return execFileSync('git', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return undefined;
  }
}
