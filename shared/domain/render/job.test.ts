import { describe, expect, it } from 'vitest';
import { jobSchema } from './job.ts';

const side = { name: 'a', type: 'oci', remoteURL: 'https://a' };
const job = { artifact: { type: 'oci', spec: { image: 'a:1' } }, source: side, destination: side };

describe('jobSchema', () => {
  it.each([{ username: 'u', password: 'p' }, { dockerConfigJson: '{}' }, { token: 't' }])(
    'takes credentials of one sort: %j',
    (credentials) => expect(jobSchema.parse({ ...job, source: { ...side, credentials } })).toBeDefined(),
  );

  it.each([
    { ...job, extra: 1 },
    { ...job, source: { ...side, remoteURL: '' } },
    { ...job, source: { ...side, credentials: { username: 'u' } } },
    { ...job, destination: undefined },
    { ...job, artifact: { type: 'oci', spec: [] } },
  ])('refuses what the worker could not act on', (bad) => {
    expect(jobSchema.safeParse(bad).success).toBe(false);
  });
});
