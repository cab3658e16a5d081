import path from 'node:path';
import { isRecord } from '#shared/base/meta';
import type { Access } from '../arcctl/console/server/serve.ts';
import { readIfPresent, writeAtomically } from './state-files.ts';

/** Returns the dashboard's host name, port and secrets of the last start in `folder`; undefined at the first start or for an invalid file. */
export async function loadAccess(folder: string): Promise<Access | undefined> {
  const text = (await readIfPresent(fileIn(folder))) ?? '{}';
  try {
    const value: unknown = JSON.parse(text);
    return isAccess(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Saves them; the file grants access to the dashboard, like the kubeconfig beside it, so only its owner can read it. */
export function saveAccess(folder: string, access: Access): Promise<void> {
  return writeAtomically(fileIn(folder), JSON.stringify(access));
}

function fileIn(folder: string): string {
  return path.join(folder, 'dashboard.json');
}

const secretForm = /^[\w-]{43}$/;

function isAccess(value: unknown): value is Access {
  if (!isRecord(value) || !isRecord(value.secrets)) return false;
  const { hostName, port, secrets } = value;
  const isAddress = typeof hostName === 'string' && /^arc-[0-9a-f]{32}\.localhost$/.test(hostName);
  const isPort = typeof port === 'number' && Number.isInteger(port) && port > 0 && port < 65_536;
  const areSecrets = ['token', 'session', 'csrf'].every((name) => secretForm.test(String(secrets[name])));
  return isAddress && isPort && areSecrets;
}
