import { ArcError } from '#shared/base/errors';
import type { Logger, Metrics } from '#shared/base/telemetry';
import { knownSettings, settingsMap } from '#shared/conduit/function-kit';
import { type ConfigMap, configMaps, type Settings } from '#shared/domain';
import { type KubeClient, listWatch } from '#shared/kubernetes/client';

export interface FollowedSettings {
  current(): Settings;
  /** Throws until the ConfigMap has been looked for. */
  check(): void;
  /** Resolves when it has been looked for, or `signal` is aborted. */
  ready: Promise<unknown>;
}

/** Follows the ConfigMap with the operator's settings: a change counts for the next request. */
export function followSettings(options: {
  client: KubeClient;
  log: Logger;
  metrics: Metrics;
  signal: AbortSignal;
}): FollowedSettings {
  const { client, log, metrics, signal } = options;
  const known = knownSettings({ log, metrics });
  const looked = Promise.withResolvers<void>();
  const handler = {
    namespace: settingsMap.namespace,
    fieldSelector: `metadata.name=${settingsMap.name}`,
    onChange: ({ after }: { after?: ConfigMap | undefined }) => known.update(after?.data),
    onSync: () => looked.resolve(),
    onFailure: (error: ArcError) => log.warn({ err: error }, "cannot read the operator's settings yet"),
  };
  const loop = listWatch<ConfigMap>(client, configMaps, handler, { signal });
  loop.done.catch((caught: unknown) =>
    log.error({ err: ArcError.from(caught) }, "stopped following the operator's settings"),
  );
  return {
    ready: Promise.race([looked.promise, loop.done.catch(() => undefined)]),
    current: () => known.current,
    check() {
      if (!loop.synced) throw new ArcError('ServiceUnavailable', "not read yet: the operator's settings");
    },
  };
}
