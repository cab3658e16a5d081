import type { ConfigReader, FindNamespace, PostReview } from '#shared/apiserver';
import { ArcError } from '#shared/errors';
import { type Kind, type KubeClient, listWatch, type Resource } from '#shared/kube';
import type { Logger } from '#shared/telemetry';

/** Asks TokenReviews and SubjectAccessReviews of the cluster. */
export function reviewsOf(client: KubeClient): PostReview {
  return ({ apiVersion, kind, plural, spec }, signal) =>
    client.create(
      { apiVersion, kind, plural, namespaced: false },
      { apiVersion, kind, metadata: { name: '' }, spec },
      signal,
    );
}

interface ConfigMap extends Resource {
  data?: Record<string, string>;
}

const configMaps: Kind<ConfigMap> = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  namespaced: true,
};

/**
 * Follows kube-system/extension-apiserver-authentication, in which kube-apiserver says which authorities it and its front
 * proxy use. When it is deleted, what it said last stays in force.
 */
export function authenticationConfigOf(client: KubeClient, log: Logger): ConfigReader {
  return (onData, signal) => {
    const handler = {
      namespace: 'kube-system',
      fieldSelector: 'metadata.name=extension-apiserver-authentication',
      onChange: ({ after }: { after?: ConfigMap | undefined }) => {
        if (after) onData(after.data ?? {});
      },
      onFailure: (error: ArcError) => log.warn({ err: error }, 'cannot read the authentication config yet'),
    };
    listWatch(client, configMaps, handler, { signal }).done.catch((caught: unknown) =>
      log.error({ err: ArcError.from(caught) }, 'the authentication config is followed no longer'),
    );
  };
}

const namespaces: Kind = { apiVersion: 'v1', kind: 'Namespace', plural: 'namespaces', namespaced: false };

export interface FollowedNamespaces {
  find: FindNamespace;
  /** Throws until all have been listed. */
  check(): void;
}

/**
 * Follows the cluster's namespaces, so that a create costs no request. What is not known as alive is asked for: it may have
 * been made a moment ago.
 */
export function namespacesOf(client: KubeClient, log: Logger, signal: AbortSignal): FollowedNamespaces {
  const loop = listWatch(
    client,
    namespaces,
    {
      keep: ({ metadata: { deletionTimestamp } }) => ({
        metadata: { ...(deletionTimestamp !== undefined && { deletionTimestamp }) },
      }),
      onChange: () => undefined,
      onFailure: (error) => log.warn({ err: error }, 'cannot read namespaces yet'),
    },
    { signal },
  );
  const { known } = loop;
  loop.done.catch((caught: unknown) =>
    log.error({ err: ArcError.from(caught) }, 'namespaces are followed no longer'),
  );
  return {
    async find(name) {
      const found = known.get(undefined, name);
      const isAlive = found !== undefined && found.metadata.deletionTimestamp === undefined;
      return isAlive ? found : client.get(namespaces, { name });
    },
    check() {
      if (!loop.synced) throw new ArcError('ServiceUnavailable', 'not read yet: namespaces');
    },
  };
}
