import { ArcError } from '#shared/base/errors';
import type { Logger } from '#shared/base/telemetry';
import { type ConfigMap, configMaps } from '#shared/domain';
import type { ConfigReader, FindNamespace, PostReview } from '#shared/kubernetes/apiserver';
import { type Kind, type KubeClient, listWatch } from '#shared/kubernetes/client';

/** Sends TokenReviews and SubjectAccessReviews to the cluster. */
export function reviewsOf(client: KubeClient): PostReview {
  return ({ apiVersion, kind, plural, spec }, signal) =>
    client.create(
      { apiVersion, kind, plural, namespaced: false },
      { apiVersion, kind, metadata: { name: '' }, spec },
      signal,
    );
}

/**
 * Follows the ConfigMap kube-system/extension-apiserver-authentication, in which kube-apiserver publishes the authorities of its clients and
 * of its front proxy. When it is deleted, its last content stays in force.
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
    listWatch<ConfigMap>(client, configMaps, handler, { signal }).done.catch((caught: unknown) =>
      log.error({ err: ArcError.from(caught) }, 'stopped following the authentication config'),
    );
  };
}

const namespaces: Kind = { apiVersion: 'v1', kind: 'Namespace', plural: 'namespaces', namespaced: false };

export interface FollowedNamespaces {
  find: FindNamespace;
  /** Throws until all namespaces have been listed. */
  check(): void;
}

/**
 * Follows the cluster's namespaces, so that a create needs no request to the cluster. A namespace that is not known to be active is
 * read from the cluster: it may have been created a moment ago.
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
    log.error({ err: ArcError.from(caught) }, 'stopped following namespaces'),
  );
  return {
    async find(name) {
      const found = known.get(undefined, name);
      const isActive = found !== undefined && found.metadata.deletionTimestamp === undefined;
      return isActive ? found : client.get(namespaces, { name });
    },
    check() {
      if (!loop.synced) throw new ArcError('ServiceUnavailable', 'not read yet: namespaces');
    },
  };
}
