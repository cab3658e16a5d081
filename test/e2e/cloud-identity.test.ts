import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parseManifests, type Registry, seedImage, startRegistry } from '#shared/local';
import { apply } from '../../scripts/demo/apply.ts';
import { type Aws, awsServices } from '../../shared/transfer/testing/aws.ts';
import { type Azure, azureServices } from '../../shared/transfer/testing/azure.ts';
import { type Cloud, startCloud } from '../../shared/transfer/testing/cloud.ts';
import { type Google, googleServices } from '../../shared/transfer/testing/google.ts';
import { podToken } from '../../shared/transfer/testing/pod-token.ts';
import { type S3Server, startS3Server } from '../../shared/transfer/testing/s3-server.ts';
import { type Conduit, startConduit, visible, workerCommand } from '../fixtures/standalone/conduit.ts';

const account = 'system:serviceaccount:demo:arc-workflow';
const tokens = {
  aws: podToken(account, 'sts.amazonaws.com'),
  azure: podToken(account, 'api://AzureADTokenExchange'),
  google: podToken(account, 'sts.googleapis.com'),
};
const role = 'arn:aws:iam::123456789012:role/arc';
const clientID = '7d8cdf74-cb36-4a2f-9b3a-9f2f5c3c8d10';
const tenant = '409520d4-8100-4d1d-ad47-72432ddcc120';
const provider = 'projects/123456789/locations/global/workloadIdentityPools/on-prem/providers/this-cluster';
const serviceAccount = 'arc@project.iam.gserviceaccount.com';
let folder = '';
let registries: { aws: Registry; azure: Registry; google: Registry };
let storage: S3Server;
let aws: Aws;
let azure: Azure;
let google: Google;
let cloud: Cloud;
let conduit: Conduit;

const at = (name: string) => path.join(folder, name);

/** What the webhooks of the clouds give the pods of the account, each for itself. */
async function webhooks(): Promise<string[]> {
  for (const [name, token] of Object.entries(tokens)) await writeFile(at(name), token);
  const federation = {
    type: 'external_account',
    audience: `//iam.googleapis.com/${provider}`,
    subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
    token_url: 'https://sts.googleapis.com/v1/token',
    service_account_impersonation_url: `https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/${serviceAccount}:generateAccessToken`,
    credential_source: { file: at('google'), format: { type: 'text' } },
  };
  await writeFile(at('federation.json'), JSON.stringify(federation));
  return [
    `AWS_ROLE_ARN=${role}`,
    `AWS_WEB_IDENTITY_TOKEN_FILE=${at('aws')}`,
    'AWS_REGION=eu-central-1',
    `AZURE_CLIENT_ID=${clientID}`,
    `AZURE_TENANT_ID=${tenant}`,
    `AZURE_FEDERATED_TOKEN_FILE=${at('azure')}`,
    'AZURE_AUTHORITY_HOST=https://login.microsoftonline.com/',
    `GOOGLE_APPLICATION_CREDENTIALS=${at('federation.json')}`,
  ];
}

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'arc-identity-'));
  registries = { aws: await startRegistry(), azure: await startRegistry(), google: await startRegistry() };
  storage = await startS3Server();
  aws = awsServices({
    region: 'eu-central-1',
    role,
    token: () => tokens.aws,
    registry: registries.aws.url,
    storage: storage.url,
  });
  azure = azureServices({ tenant, clientID, token: () => tokens.azure, registry: registries.azure.url });
  google = googleServices({
    provider: `//iam.googleapis.com/${provider}`,
    token: () => tokens.google,
    serviceAccount,
    registry: registries.google.url,
  });
  cloud = await startCloud({ ...aws.services, ...azure.services, ...google.services });
  await writeFile(at('ca.pem'), cloud.authority);
  // How the network of the test leads to the clouds.
  const network = [`HTTPS_PROXY=${cloud.proxy}`, `NODE_EXTRA_CA_CERTS=${at('ca.pem')}`];
  conduit = await startConduit({
    programs: { 'artifact-conduit:*': workerCommand(2, '/usr/bin/env', ...(await webhooks()), ...network) },
  });
});
afterAll(async () => {
  await conduit?.close();
  const servers = [cloud, storage, ...Object.values(registries ?? {})];
  await Promise.all(servers.map((server) => server?.close()));
  await rm(folder, { recursive: true, force: true });
});

it.each([
  ['aws', ['mirror/team/app', 'mirror/tools'], { 'eks.amazonaws.com/role-arn': role }],
  ['azure', ['demo/team/app'], { 'azure.workload.identity/client-id': clientID }],
  [
    'google',
    ['project/mirror/team/app'],
    {
      'cloud.google.com/workload-identity-provider': provider,
      'cloud.google.com/service-account-email': serviceAccount,
    },
  ],
] as const)(
  'an Order reaches %s without a Secret: the example',
  async (name, repositories, annotations) => {
    const { digest } = await seedImage(conduit.source, 'team/app', '1.0');
    storage.objects.set('/mirror/tools/tools.tgz', { bytes: Buffer.from('tools'), etag: '"1"', headers: {} });
    const tenant = await conduit.tenant(name);
    const file = `knative/examples/${name}-identity.yaml`;
    for (const object of parseManifests(await readFile(file, 'utf8'), file)) {
      // The webhook reads the annotations; here the worker has been given what it would bring.
      if (object.kind === 'ServiceAccount') {
        expect(object.metadata).toMatchObject({ annotations });
        continue;
      }
      const metadata = { ...object.metadata, namespace: tenant.namespace };
      await apply(conduit.api, { ...object, metadata }, AbortSignal.timeout(10_000));
    }
    await tenant.ended(`to-${name}`);
    const moved = (await tenant.children()).map(({ status }) => status?.results?.digest);
    expect(moved).toContain(digest);
    expect([...registries[name].contents.keys()].sort()).toEqual(repositories);
    expect(cloud.strangers).toEqual([]);
    const seen = await visible(conduit);
    const lent = { aws, azure, google }[name].secrets;
    expect(lent.length).toBeGreaterThan(0);
    for (const secret of [tokens[name], ...lent]) expect(seen).not.toContain(secret);
  },
  120_000,
);
