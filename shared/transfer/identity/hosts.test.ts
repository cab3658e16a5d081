import { expect, it } from 'vitest';
import { cloudRegistry, cloudStorage, hasOwnTrust } from './hosts.ts';

it.each([
  [
    'https://123456789012.dkr.ecr.eu-central-1.amazonaws.com',
    { cloud: 'AWS', region: 'eu-central-1', domain: 'amazonaws.com' },
  ],
  [
    'https://123456789012.dkr.ecr.us-gov-west-1.amazonaws.com',
    { cloud: 'AWS', region: 'us-gov-west-1', domain: 'amazonaws.com' },
  ],
  [
    'https://123456789012.dkr.ecr.cn-north-1.amazonaws.com.cn',
    { cloud: 'AWS', region: 'cn-north-1', domain: 'amazonaws.com.cn' },
  ],
  ['https://mirror.azurecr.io', { cloud: 'Azure', host: 'mirror.azurecr.io', domain: 'azurecr.io' }],
  [
    'https://Mirror-d7h5fjb3bxcpexd0.azurecr.io',
    { cloud: 'Azure', host: 'mirror-d7h5fjb3bxcpexd0.azurecr.io', domain: 'azurecr.io' },
  ],
  ['https://team1.azurecr.cn', { cloud: 'Azure', host: 'team1.azurecr.cn', domain: 'azurecr.cn' }],
  ['https://team1.azurecr.us', { cloud: 'Azure', host: 'team1.azurecr.us', domain: 'azurecr.us' }],
  ['https://europe-docker.pkg.dev', { cloud: 'Google' }],
  ['https://us-central1-docker.pkg.dev', { cloud: 'Google' }],
  ['https://gcr.io', { cloud: 'Google' }],
  ['https://asia.gcr.io', { cloud: 'Google' }],
])('%s is a registry of a cloud', (origin, host) => expect(cloudRegistry(origin)).toEqual(host));

it.each([
  'https://mirror.s3.eu-central-1.amazonaws.com',
  'https://s3.eu-central-1.amazonaws.com',
  'https://s3.amazonaws.com',
  'https://mirror.with.dots.s3.dualstack.us-west-2.amazonaws.com',
])('%s is a storage of a cloud', (origin) =>
  expect(cloudStorage(origin)).toEqual({ cloud: 'AWS', domain: 'amazonaws.com' }),
);

// Names that customers can have, and names that only look alike.
it.each([
  'http://123456789012.dkr.ecr.eu-central-1.amazonaws.com',
  'https://123456789012.dkr.ecr.eu-central-1.amazonaws.com:8443',
  'https://123456789012.dkr.ecr.eu-central-1.amazonaws.com.evil.example',
  'https://123456789012.dkr.ecr.eu-central-1.amazonaws.com.evil.cn',
  'https://123456789012.dkr.ecr.eu-central-1.evil.amazonaws.com',
  'https://x.123456789012.dkr.ecr.eu-central-1.amazonaws.com',
  'https://123456789012-dkr-ecr.eu-central-1.elb.amazonaws.com',
  'https://s3.eu-central-1.elb.amazonaws.com',
  'https://s3.execute-api.eu-central-1.amazonaws.com',
  'https://ec2-1-2-3-4.eu-central-1.compute.amazonaws.com',
  'https://mirror.s3-website.eu-central-1.amazonaws.com',
  'https://s3.amazonaws.com.evil.example',
  'https://evils3.amazonaws.com',
  'http://s3.amazonaws.com',
  'https://public.ecr.aws',
  'http://team1.azurecr.io',
  'https://team1.azurecr.io:8443',
  'https://team1.azurecr.io.evil.example',
  'https://x.team1.azurecr.io',
  'https://evilazurecr.io',
  'https://azurecr.io',
  'https://team1.eastus.data.azurecr.io',
  'https://team1.azurecr.com',
  'https://team1.eastus.azurecontainer.io',
  'http://gcr.io',
  'https://gcr.io:444',
  'https://gcr.io.evil.example',
  'https://evilgcr.io',
  'https://x.gcr.io',
  'https://x.us.gcr.io',
  'https://docker.pkg.dev',
  'https://evil.example-docker.pkg.dev',
  'https://europe-west3-docker.pkg.dev.evil.example',
  'https://europe-python.pkg.dev',
])('%s is neither', (origin) => {
  expect(cloudRegistry(origin)).toBeUndefined();
  expect(cloudStorage(origin)).toBeUndefined();
});

it('an Endpoint with a CA or a client certificate has trust settings of its own', () => {
  for (const tls of [
    { ca: 'x' },
    { certificate: 'x', key: 'y' },
    { insecureSkipVerify: true },
    { plainHTTP: true },
  ])
    expect(hasOwnTrust(tls)).toBe(true);
  for (const tls of [undefined, {}, { insecureSkipVerify: false, plainHTTP: false }])
    expect(hasOwnTrust(tls)).toBe(false);
});
