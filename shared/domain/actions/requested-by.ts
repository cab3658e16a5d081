import { isRecord, type KubeObject } from '#shared/base/meta';
import { annotations } from '../kinds/well-known.ts';

/** What can be asked for with a request of its own, and a word for it. */
export const actions = {
  retry: 'a retry',
  force: 'everything to run again',
  cancel: 'a cancel',
} as const;
export type ActionName = keyof typeof actions;

/** The longest name of a user that is kept, in characters. */
const longestUser = 256;

/** Who asked for an action last, and when (RFC 3339): the annotation `requested-by`, which the API server alone writes. */
export interface ActionRequest {
  action: ActionName;
  user: string;
  time: string;
}

/** The annotation that names the user, with the time by the server's clock. */
export function requestedBy(action: ActionName, user: string, now: Date): Record<string, string> {
  const request: ActionRequest = { action, user: user.slice(0, longestUser), time: now.toISOString() };
  return { [annotations.requestedBy]: JSON.stringify(request) };
}

/** The last action that was asked for; undefined where none was, or the annotation is not one of the server's. */
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

// By hand: zod would be most of the bundle of the functions that read it.
function isRequest(value: unknown): value is ActionRequest {
  if (!isRecord(value)) return false;
  const { action, user, time } = value;
  const isKnown = typeof action === 'string' && Object.hasOwn(actions, action);
  return isKnown && typeof user === 'string' && typeof time === 'string' && !Number.isNaN(Date.parse(time));
}
