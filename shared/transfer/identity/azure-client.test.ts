import { expect, it } from 'vitest';
import { azureClient, nameOf } from './azure-client.ts';

const given = {
  AZURE_CLIENT_ID: '7d8cdf74-cb36-4a2f-9b3a-9f2f5c3c8d10',
  AZURE_TENANT_ID: '409520d4-8100-4d1d-ad47-72432ddcc120',
  AZURE_FEDERATED_TOKEN_FILE: '/var/run/secrets/azure/tokens/azure-identity-token',
};

it('reads the client that the webhook injects', () => {
  const client = azureClient({ ...given, AZURE_AUTHORITY_HOST: 'https://login.microsoftonline.us/' });
  expect(client).toEqual({
    id: given.AZURE_CLIENT_ID,
    tenant: given.AZURE_TENANT_ID,
    tokenFile: given.AZURE_FEDERATED_TOKEN_FILE,
    authority: 'https://login.microsoftonline.us/',
  });
  expect(azureClient(given)?.authority).toBe('https://login.microsoftonline.com/');
  expect(client && nameOf(client)).toBe(`client ${given.AZURE_CLIENT_ID} of tenant ${given.AZURE_TENANT_ID}`);
});

it.each([
  {},
  { ...given, AZURE_CLIENT_ID: '' },
  { ...given, AZURE_CLIENT_ID: 'my-app' },
  { ...given, AZURE_TENANT_ID: '../common' },
  { ...given, AZURE_TENANT_ID: `${given.AZURE_TENANT_ID}/x` },
  { ...given, AZURE_FEDERATED_TOKEN_FILE: '' },
])('finds no client in %j', (env) => expect(azureClient(env)).toBeUndefined());
