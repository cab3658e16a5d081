import { describe, expect, it } from 'vitest';
import { parseJob } from './job.ts';

const side = { name: 'src', type: 'oci', remoteURL: 'https://r.io' };
const job = { artifact: { type: 'oci', spec: { image: 'a:1' } }, source: side, destination: side };
const withSource = (more: object): object => ({ ...job, source: { ...side, ...more } });

describe('parseJob', () => {
  it.each([
    job,
    { ...job, artifact: { ...job.artifact, name: 'app' } },
    withSource({ credentials: { username: 'a', password: 'b' } }),
    withSource({ credentials: { dockerConfigJson: '{}' } }),
    withSource({ credentials: { token: 't' } }),
    withSource({ type: 'bundle', keys: { sign: 'private', trust: 'public' } }),
    withSource({ tls: { ca: 'PEM', insecureSkipVerify: false, plainHTTP: true } }),
  ])('reads every field of %j', (value) => {
    expect(parseJob(JSON.stringify(value))).toEqual(value);
  });

  it.each([
    [{}, 'artifact must be an object'],
    [[], 'job.json must be an object'],
    [{ ...job, artifact: { type: 'oci' } }, 'artifact.spec must be an object'],
    [{ ...job, artifact: { type: 'oci', spec: [] } }, 'artifact.spec must be an object'],
    [{ ...job, destination: undefined }, 'destination must be an object'],
    [withSource({ remoteURL: 5 }), 'source.remoteURL must be a string that is not empty'],
    [withSource({ remoteURL: '' }), 'source.remoteURL must be a string that is not empty'],
    [withSource({ credentials: { username: 'hunter22' } }), 'source.credentials.password must be a string'],
    [withSource({ credentials: { token: 5 } }), 'source.credentials.token must be a string'],
    [withSource({ tls: { plainHTTP: 'yes' } }), 'source.tls.plainHTTP must be true or false'],
  ])('refuses %j: %s', (value, message) => {
    const read = () => parseJob(JSON.stringify(value));
    expect(read).toThrow(
      `The job cannot be read: ${message}. It is written by render-secret; delete the ArtifactWorkflow's Secret to have it rendered anew.`,
    );
    expect(read).toThrow(/^(?!.*hunter22)/s);
  });

  it('ignores fields that a newer conduit may have added', () => {
    const more = { ...job, extra: 1, source: { ...side, credentials: { token: 't', username: 'u' } } };
    expect(parseJob(JSON.stringify(more))).toEqual(withSource({ credentials: { token: 't' } }));
  });

  it('refuses text that is not JSON, without quoting it', () => {
    expect(() => parseJob('{"password":"hunter22"')).toThrow('job.json must be JSON');
    expect(() => parseJob('{"password":"hunter22"')).toThrow(/^(?!.*hunter22)/s);
  });
});
