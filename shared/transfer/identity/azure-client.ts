import type { AzureDomain } from './hosts.ts';

/** The Azure application or managed identity of a pod. */
export interface AzureClient {
  id: string;
  tenant: string;
  tokenFile: string;
  /** The token endpoint that the pod was configured with. */
  authority: string;
}

/** The token endpoints for each registry domain, as published by Microsoft for its clouds. */
export const loginHosts: Readonly<Record<AzureDomain, string>> = {
  'azurecr.io': 'login.microsoftonline.com',
  'azurecr.cn': 'login.chinacloudapi.cn',
  'azurecr.us': 'login.microsoftonline.us',
};

const guid = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

/**
 * The client that the Azure Workload Identity webhook, or an equivalent, has injected into a pod: AZURE_CLIENT_ID, AZURE_TENANT_ID,
 * AZURE_FEDERATED_TOKEN_FILE and AZURE_AUTHORITY_HOST. Undefined without a valid client.
 */
export function azureClient(env: Readonly<Record<string, string | undefined>>): AzureClient | undefined {
  const { AZURE_CLIENT_ID: id = '', AZURE_TENANT_ID: tenant = '' } = env;
  const { AZURE_FEDERATED_TOKEN_FILE: tokenFile = '', AZURE_AUTHORITY_HOST: authority } = env;
  if (!guid.test(id) || !guid.test(tenant) || tokenFile === '') return undefined;
  return { id, tenant, tokenFile, authority: authority || `https://${loginHosts['azurecr.io']}/` };
}

/** For messages. */
export function nameOf({ id, tenant }: AzureClient): string {
  return `client ${id} of tenant ${tenant}`;
}
