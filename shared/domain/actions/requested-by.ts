import { isRecord, type KubeObject } from '#shared/base/meta';
import { annotations } from '../kinds/well-known.ts';

/** The actions that a subresource requests, each with its word for people. */
export const actions = {
  retry: 'a retry',
  force: 'everything to run again',
  cancel: 'a cancel',
} as const;
export type ActionName = keyof typeof actions;

/** Longer user names are cut; characters. */
const longestUser = 256;

/** Who requested an action last, and when (RFC 3339): the annotation `requested-by`, which only the API server writes. */
export interface ActionRequest {
  action: ActionName;
  user: string;
  time: string;
}

/** Returns the annotation with the user and the time by the server's clock. */
export function requestedBy(action: ActionName, user: string, now: Date): Record<string, string> {
  const request: ActionRequest = { action, user: user.slice(0, longestUser), time: now.toISOString() };
  return { [annotations.requestedBy]: JSON.stringify(request) };
}

/** Returns the last requested action; undefined without a valid annotation. */
export function requestOf({ metadata }: Pick<KubeObject, 'metadata'>): ActionRequest | undefined {
  const text = metadata.annotations?.[annotations.requestedBy];
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isRequest(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

// Checked by hand: zod would be most of the bundle of the functions that read the annotation.
function isRequest(value: unknown): value is ActionRequest {
  if (!isRecord(value)) return false;
  const { action, user, time } = value;
  const isKnown = typeof action === 'string' && Object.hasOwn(actions, action);
  return isKnown && typeof user === 'string' && typeof time === 'string' && !Number.isNaN(Date.parse(time));
}
