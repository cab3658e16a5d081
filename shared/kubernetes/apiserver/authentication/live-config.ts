import { ArcError } from '#shared/base/errors';
import { type AuthenticationConfig, parseAuthenticationConfig } from './config.ts';

/** Calls `onData` with the ConfigMap's data now and after every change, until `signal`. Injected: this room has no client. */
export type ConfigReader = (
  onData: (data: Readonly<Record<string, string>>) => void,
  signal: AbortSignal,
) => void;

export interface LiveConfigOptions {
  reader: ConfigReader;
  signal: AbortSignal;
  /** Called for invalid data; the configuration before it stays in force. */
  onInvalid(error: ArcError): void;
  /** Milliseconds to wait for the first data. */
  deadlineMs?: number;
}

/**
 * Resolves with a function that returns the configuration in force. Rejects with ServiceUnavailable when there is none in time
 * and with Invalid when the first is wrong: a server without trusted authorities must not start.
 */
export async function liveAuthenticationConfig(
  options: LiveConfigOptions,
): Promise<() => AuthenticationConfig> {
  const { reader, signal, onInvalid, deadlineMs = 30_000 } = options;
  const { promise, resolve, reject } = Promise.withResolvers<AuthenticationConfig>();
  let current: AuthenticationConfig | undefined;
  const late = setTimeout(() => {
    const message = `ConfigMap kube-system/extension-apiserver-authentication could not be read within ${deadlineMs / 1000} s: is the RoleBinding to extension-apiserver-authentication-reader there?`;
    reject(new ArcError('ServiceUnavailable', message));
  }, deadlineMs);
  const stopped = () =>
    reject(new ArcError('ServiceUnavailable', 'stopped before the authentication configuration was read'));
  signal.addEventListener('abort', stopped, { once: true });
  reader((data) => {
    try {
      current = parseAuthenticationConfig(data);
      resolve(current);
    } catch (caught) {
      const error = ArcError.from(caught);
      if (current === undefined) reject(error);
      else onInvalid(error);
    }
  }, signal);
  try {
    const first = await promise;
    return () => current ?? first;
  } finally {
    clearTimeout(late);
    signal.removeEventListener('abort', stopped);
  }
}
