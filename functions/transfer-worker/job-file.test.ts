import { describe, expect, it } from 'vitest';
import { jobSchema } from '#shared/domain';
import { parseJob } from './job-file.ts';

const endpoint = { name: 'src', type: 'oci', remoteURL: 'https://r.io' };
const job = { artifact: { type: 'oci', spec: { image: 'a:1' } }, source: endpoint, destination: endpoint };
const withSource = (more: object): object => ({ ...job, source: { ...endpoint, ...more } });

describe('a job', () => {
  it.each([
    job,
    { ...job, artifact: { ...job.artifact, name: 'app' } },
    withSource({ credentials: { username: 'a', password: 'b' } }),
    withSource({ credentials: { dockerConfigJson: '{}' } }),
    withSource({ credentials: { token: 't' } }),
    withSource({ tls: { ca: 'PEM', insecureSkipVerify: false, plainHTTP: true } }),
  ])('that the schema accepts is read as the schema reads it: %j', (value) => {
    expect(parseJob(JSON.stringify(value))).toEqual(jobSchema.parse(value));
  });

  it.each([
    [{}, 'artifact'],
    [{ ...job, artifact: { type: 'oci' } }, 'artifact.spec'],
    [{ ...job, destination: undefined }, 'destination'],
    [withSource({ remoteURL: 5 }), 'source.remoteURL'],
    [withSource({ credentials: { username: 'hunter22' } }), 'source.credentials.password'],
    [withSource({ tls: { plainHTTP: 'yes' } }), 'source.tls.plainHTTP'],
  ])('that the schema refuses is refused, naming the field: %j', (value, field) => {
    expect(jobSchema.safeParse(value).success).toBe(false);
    expect(() => parseJob(JSON.stringify(value))).toThrow(`${field} must be`);
  });

  it('that is no JSON is refused without being quoted', () => {
    expect(() => parseJob('{"password":"hunter22"')).toThrow(/^(?!.*hunter22)/s);
  });
});
