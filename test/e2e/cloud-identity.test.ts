import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parseManifests, type Registry, seedImage, startRegistry } from '#shared/embedded';
import { apply } from '../../scripts/demo/apply.ts';
import { type Aws, awsServices } from '../../shared/transfer/testing/aws.ts';
import { type Cloud, startCloud } from '../../shared/transfer/testing/cloud.ts';
import { podToken } from '../../shared/transfer/testing/pod-token.ts';
import { type S3Server, startS3Server } from '../../shared/transfer/testing/s3-server.ts';
import {
  type Conduit,
  startConduit,
  type Tenant,
  visible,
  workerCommand,
} from '../fixtures/standalone/conduit.ts';

const token = podToken('system:serviceaccount:demo:arc-workflow');
const role = 'arn:aws:iam::123456789012:role/arc';
let folder = '';
let registry: Registry;
let storage: S3Server;
let aws: Aws;
let cloud: Cloud;
let conduit: Conduit;
let tenant: Tenant;

beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'arc-identity-'));
  registry = await startRegistry();
  storage = await startS3Server();
  aws = awsServices({
    region: 'eu-central-1',
    role,
    token: () => token,
    registry: registry.url,
    storage: storage.url,
  });
  cloud = await startCloud(aws.services);
  await writeFile(path.join(folder, 'token'), token);
  await writeFile(path.join(folder, 'ca.pem'), cloud.authority);
  // What the pod identity webhook of EKS gives the pods of the account, and how the network of the test leads to AWS.
  const given = [
    `AWS_ROLE_ARN=${role}`,
    `AWS_WEB_IDENTITY_TOKEN_FILE=${path.join(folder, 'token')}`,
    'AWS_REGION=eu-central-1',
    `HTTPS_PROXY=${cloud.proxy}`,
    `NODE_EXTRA_CA_CERTS=${path.join(folder, 'ca.pem')}`,
  ];
  conduit = await startConduit({
    programs: { 'artifact-conduit:*': workerCommand(2, '/usr/bin/env', ...given) },
  });
  tenant = await conduit.tenant('identity');
});
afterAll(async () => {
  await conduit?.close();
  await Promise.all([cloud, storage, registry].map((server) => server?.close()));
  await rm(folder, { recursive: true, force: true });
});

it('an Order reaches a registry and a bucket of AWS without a Secret: the example', async () => {
  const { digest } = await seedImage(conduit.source, 'team/app', '1.0');
  storage.objects.set('/mirror/tools/tools.tgz', { bytes: Buffer.from('tools'), etag: '"1"', headers: {} });
  const file = 'knative/examples/aws-identity.yaml';
  for (const object of parseManifests(await readFile(file, 'utf8'), file)) {
    // The webhook reads the annotation; here the worker has been given what it would bring.
    if (object.kind === 'ServiceAccount') {
      expect(object.metadata).toMatchObject({ annotations: { 'eks.amazonaws.com/role-arn': role } });
      continue;
    }
    const metadata = { ...object.metadata, namespace: tenant.namespace };
    await apply(conduit.api, { ...object, metadata }, AbortSignal.timeout(10_000));
  }
  await tenant.ended('to-aws');
  const moved = (await tenant.children()).map(({ status }) => status?.results?.digest);
  expect(moved).toContain(digest);
  expect([...registry.contents.keys()].sort()).toEqual(['mirror/team/app', 'mirror/tools']);
  expect(cloud.strangers).toEqual([]);
  const seen = await visible(conduit);
  for (const secret of [token, ...aws.secrets]) expect(seen).not.toContain(secret);
}, 120_000);
