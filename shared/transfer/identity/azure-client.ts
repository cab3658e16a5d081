import type { AzureDomain } from './hosts.ts';

/** The application, or managed identity, of Azure that a pod may be. */
export interface AzureClient {
  id: string;
  tenant: string;
  tokenFile: string;
  /** Where the pod was told to get tokens. */
  authority: string;
}

/** Who gives tokens for the registries of a domain: the names that Microsoft publishes for its clouds. */
export const logins: Readonly<Record<AzureDomain, string>> = {
  'azurecr.io': 'login.microsoftonline.com',
  'azurecr.cn': 'login.chinacloudapi.cn',
  'azurecr.us': 'login.microsoftonline.us',
};

const guid = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

/**
 * The client that the webhook of Azure Workload Identity, or whoever does as it does, has given a pod: AZURE_CLIENT_ID, AZURE_TENANT_ID,
 * AZURE_FEDERATED_TOKEN_FILE and AZURE_AUTHORITY_HOST. Undefined without one, or with what is none.
 */
export function azureClient(env: Readonly<Record<string, string | undefined>>): AzureClient | undefined {
  const { AZURE_CLIENT_ID: id = '', AZURE_TENANT_ID: tenant = '' } = env;
  const { AZURE_FEDERATED_TOKEN_FILE: tokenFile = '', AZURE_AUTHORITY_HOST: authority } = env;
  if (!guid.test(id) || !guid.test(tenant) || tokenFile === '') return undefined;
  return { id, tenant, tokenFile, authority: authority || `https://${logins['azurecr.io']}/` };
}

/** For messages. */
export function nameOf({ id, tenant }: AzureClient): string {
  return `client ${id} of tenant ${tenant}`;
}
