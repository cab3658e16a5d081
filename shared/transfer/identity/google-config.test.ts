import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readGoogleConfig } from './google-config.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'arc-google-'));
});
afterAll(() => rm(folder, { recursive: true }));

const pool = 'projects/123456789/locations/global/workloadIdentityPools/on-prem';
const url =
  'https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/arc@project.iam.gserviceaccount.com:generateAccessToken';
const whole = {
  universe_domain: 'googleapis.com',
  type: 'external_account',
  audience: `//iam.googleapis.com/${pool}/providers/this-cluster`,
  subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
  token_url: 'https://sts.googleapis.com/v1/token',
  service_account_impersonation_url: url,
  credential_source: { file: '/var/run/token', format: { type: 'text' } },
};

async function read(content: unknown) {
  const file = path.join(folder, 'federation.json');
  await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content));
  return readGoogleConfig(file);
}

it('reads the output of gcloud', async () => {
  const read1 = { audience: whole.audience, pool, tokenFile: '/var/run/token' };
  expect(await read(whole)).toEqual({ ...read1, serviceAccount: 'arc@project.iam.gserviceaccount.com' });
  const { service_account_impersonation_url: _, token_url: __, universe_domain: ___, ...least } = whole;
  expect(await read({ ...least, credential_source: { file: '/var/run/token' } })).toEqual({
    ...read1,
    serviceAccount: undefined,
  });
});

it.each([
  ['type', 'service_account'],
  ['universe_domain', 'evil.example'],
  ['audience', '//iam.googleapis.com/locations/global/workforcePools/p/providers/x'],
  ['audience', `//iam.googleapis.com/${pool}/providers/this-cluster/../x`],
  ['audience', undefined],
  ['subject_token_type', 'urn:ietf:params:aws:token-type:aws4_request'],
  ['token_url', 'https://sts.googleapis.com.evil.example/v1/token'],
  ['token_url', 'http://sts.googleapis.com/v1/token'],
  ['token_url', 'https://sts.googleapis.com/v1/token?x'],
  ['service_account_impersonation_url', url.replace('googleapis.com', 'evil.example')],
  ['service_account_impersonation_url', url.replace('https:', 'http:')],
  ['service_account_impersonation_url', url.replace('arc@', '../arc@')],
  ['service_account_impersonation_url', `${url}?x`],
  ['service_account_impersonation_url', 7],
])('refuses %s %j', async (field, value) => {
  await expect(read({ ...whole, [field]: value })).rejects.toMatchObject({
    reason: 'config',
    message: expect.stringContaining(`${field} is ${typeof value === 'string' ? `"${value}"` : 'missing'}`),
  });
});

it.each([
  [{ url: 'http://169.254.169.254/' }, 'credential_source.file'],
  [{ executable: { command: 'x' } }, 'credential_source.file'],
  [{ file: '/x', format: { type: 'json', subject_token_field_name: 'x' } }, 'credential_source.format.type'],
])('refuses the source %j', async (source, field) => {
  await expect(read({ ...whole, credential_source: source })).rejects.toThrow(field);
});

it.each(['', 'null', '[]', '{'])('refuses the file %j', async (content) => {
  await expect(read(content)).rejects.toThrow('type is missing');
});
