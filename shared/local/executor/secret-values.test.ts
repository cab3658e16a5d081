import { describe, expect, it } from 'vitest';
import { secretsIn } from './secret-values.ts';

describe('secretsIn', () => {
  it.each<[string, string, string[]]>([
    ['password', 'hunter2\n', ['hunter2\n', 'hunter2']],
    ['username', 'me', []],
    ['token', '{broken', ['{broken', '{broken']],
  ])('of %s: %j', (key, text, expected) => {
    expect(secretsIn(key, text)).toEqual(expected);
  });

  it('finds the credentials in a job and in a docker configuration, and nothing else of them', () => {
    const docker = JSON.stringify({
      auths: { 'ghcr.io': { username: 'me', password: 'p1', auth: 'bWU6cDE=' } },
    });
    const job = JSON.stringify({
      artifact: { type: 'oci', spec: { image: 'team/app' } },
      source: { remoteURL: 'https://a', credentials: { username: 'me', password: 'p2' } },
      destination: { credentials: { dockerConfigJson: docker } },
    });
    const found = secretsIn('job.json', job);
    expect(found).toEqual(expect.arrayContaining(['p1', 'bWU6cDE=', 'p2']));
    for (const plain of ['team/app', 'https://a', 'me', 'oci', 'ghcr.io']) expect(found).not.toContain(plain);
  });
});
