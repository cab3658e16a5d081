import { expect, it } from 'vitest';
import { withoutCredentials } from './without-credentials.ts';

const registry = 'https://123456789012.dkr.ecr.eu-central-1.amazonaws.com/v2/';
const bucket = 'https://mirror.s3.eu-central-1.amazonaws.com/';

it.each([
  ['oci', registry, 'AWS'],
  ['s3', bucket, 'AWS'],
  ['bundle', bucket, 'AWS'],
  ['oci', 'https://team1.azurecr.io/v2/', 'Azure'],
  ['oci', 'https://europe-docker.pkg.dev/v2/', 'Google'],
])('an Endpoint of type %s at %s may do with the identity of the workers', (type, url, cloud) => {
  expect(withoutCredentials({ name: 'cloud', type }, new URL(url))).toEqual({
    status: 'Unknown',
    reason: 'WorkerIdentity',
    message: expect.stringContaining(`workers use their ${cloud} identity`),
  });
});

it.each([
  ['oci', 'https://registry.example/v2/', {}],
  ['oci', bucket, {}],
  ['http', bucket, {}],
  ['s3', registry, {}],
  ['oci', registry, { insecureSkipVerify: true }],
])('an Endpoint of type %s at %s with %j needs a Secret', (type, url, tls) => {
  expect(withoutCredentials({ name: 'inner', type, tls }, new URL(url))).toMatchObject({
    status: 'False',
    reason: 'NoCredentials',
    message: expect.stringContaining('spec.secretRef of Endpoint "inner"'),
  });
});
