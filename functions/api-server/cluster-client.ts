import type { ConfigReader, PostReview } from '#shared/apiserver';
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
