import path from 'node:path';
import { isRecord } from '#shared/base/meta';
import type { Access } from '../arcctl/console/server/serve.ts';
import { readIfPresent, writeWhole } from './state-files.ts';

/** Returns what the dashboard of the last start in `folder` had; undefined at the first, or where its file cannot be used. */
export async function rememberedAccess(folder: string): Promise<Access | undefined> {
  const text = (await readIfPresent(fileIn(folder))) ?? '{}';
  try {
    const value: unknown = JSON.parse(text);
    return isAccess(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Whoever reads it gets into the dashboard, as with the kubeconfig beside it: only its owner can. */
export function rememberAccess(folder: string, access: Access): Promise<void> {
  return writeWhole(fileIn(folder), JSON.stringify(access));
}

function fileIn(folder: string): string {
  return path.join(folder, 'dashboard.json');
}

const longEnough = /^[\w-]{43}$/;

function isAccess(value: unknown): value is Access {
  if (!isRecord(value) || !isRecord(value.secrets)) return false;
  const { hostName, port, secrets } = value;
  const isAddress = typeof hostName === 'string' && /^arc-[0-9a-f]{32}\.localhost$/.test(hostName);
  const isPort = typeof port === 'number' && Number.isInteger(port) && port > 0 && port < 65_536;
  const areSecrets = ['token', 'session', 'csrf'].every((name) => longEnough.test(String(secrets[name])));
  return isAddress && isPort && areSecrets;
}
