import { describe, expect, it } from 'vitest';
import type { Job } from '#shared/domain';
import { compareJob, moveJob, transferJob } from './transfer-job.ts';

const options = { signal: new AbortController().signal, workDir: '/nowhere' };

function job(policy: string, type = 'oci'): Job {
  const remoteURL = 'https://registry.example.com';
  return {
    artifact: { type: 'app', spec: { image: 'team/app:1.0', path: 'app.tgz' } },
    source: { name: 'src', type, remoteURL },
    destination: { name: 'dst', type, remoteURL },
    policy,
  };
}

describe('a job with a policy', () => {
  it.each([
    ['', /^The policy cannot be read, so nothing is moved: policy must be JSON/],
    ['{}', /policy must be an object with at least one of/],
    [
      '{"maxByte":1}',
      /policy\.maxByte is not known: use .*Correct the parameter "policy" of the artifact's type\.$/,
    ],
  ])('that cannot be read moves nothing: %j', async (policy, message) => {
    const failure = { reason: 'config', message: expect.stringMatching(message) };
    await expect(transferJob(job(policy), options)).rejects.toMatchObject(failure);
    await expect(compareJob(job(policy), options)).rejects.toMatchObject(failure);
  });

  it('moves no file, because no rule would be applied to it', async () => {
    const message = expect.stringMatching(/^A policy cannot be applied to a single file/);
    const moving = transferJob(job('{"maxBytes":1000000}', 'http'), options);
    await expect(moving).rejects.toMatchObject({ reason: 'config', message });
  });
});

describe('a job whose type pins the artifact', () => {
  const moving = (spec: Job['artifact']['spec'], type = 'oci') => {
    const { policy: _, ...given } = job('', type);
    return moveJob({ ...given, artifact: { type: 'app', spec } }, options);
  };

  it.each([{}, { withImages: true }, { images: ['evil/app:1.0'] }])(
    'moves no chart instead of an image: %j',
    async (more) => {
      const message = expect.stringMatching(/^spec\.chart and spec\.image name two artifacts/);
      const failure = { reason: 'config', message };
      await expect(moving({ image: 'approved/app:1.0', chart: 'evil', ...more })).rejects.toMatchObject(
        failure,
      );
    },
  );

  it('moves no tags and no chart instead of a file', async () => {
    const spec = { path: '/pinned', image: 'evil/app', tags: { match: '*' } };
    const message = expect.stringMatching(/^The path "\/pinned" cannot be used/);
    await expect(moving(spec, 'http')).rejects.toMatchObject({ reason: 'config', message });
    await expect(moving({ ...spec, chart: 'evil' }, 'http')).rejects.toMatchObject({ message });
  });
});
