import { ArcError } from '#shared/base/errors';
import { type AuthenticationConfig, parseAuthenticationConfig } from './config.ts';

/** Calls `onData` with the data of the ConfigMap, initially and after every change, until `signal` is aborted. */
export type ConfigReader = (
  onData: (data: Readonly<Record<string, string>>) => void,
  signal: AbortSignal,
) => void;

export interface LiveConfigOptions {
  reader: ConfigReader;
  signal: AbortSignal;
  /** Called for invalid data; the previous configuration stays in effect. */
  onInvalid(error: ArcError): void;
  /** Timeout of the first read in milliseconds. */
  timeoutMs?: number;
}

/**
 * Resolves with a function that returns the current configuration. Rejects with ServiceUnavailable if the first read times out, with
 * Invalid if the first configuration is invalid: a server without trusted authorities must not start.
 */
export async function liveAuthenticationConfig(
  options: LiveConfigOptions,
): Promise<() => AuthenticationConfig> {
  const { reader, signal, onInvalid, timeoutMs = 30_000 } = options;
  const { promise, resolve, reject } = Promise.withResolvers<AuthenticationConfig>();
  let current: AuthenticationConfig | undefined;
  const timer = setTimeout(() => {
    const message = `ConfigMap kube-system/extension-apiserver-authentication could not be read within ${timeoutMs / 1000} s: check the RoleBinding to extension-apiserver-authentication-reader`;
    reject(new ArcError('ServiceUnavailable', message));
  }, timeoutMs);
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
    clearTimeout(timer);
    signal.removeEventListener('abort', stopped);
  }
}
