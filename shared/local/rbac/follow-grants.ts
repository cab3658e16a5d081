import { ArcError } from '#shared/base/errors';
import type { KubeObject } from '#shared/base/meta';
import type { Logger } from '#shared/base/telemetry';
import { type Kind, type KubeClient, listWatch } from '#shared/kubernetes/client';
import type { Rbac } from './authorizer.ts';
import type { Manifest } from './manifests.ts';

const apiVersion = 'rbac.authorization.k8s.io/v1';
const kinds: readonly Kind[] = [
  { apiVersion, kind: 'Role', plural: 'roles', namespaced: true },
  { apiVersion, kind: 'RoleBinding', plural: 'rolebindings', namespaced: true },
  { apiVersion, kind: 'ClusterRole', plural: 'clusterroles', namespaced: false },
  { apiVersion, kind: 'ClusterRoleBinding', plural: 'clusterrolebindings', namespaced: false },
];

/**
 * Keeps `rbac` up to date with the stored roles and bindings until `signal` is aborted; a change counts for the next request.
 * @returns `ready`, which resolves when all kinds have been listed or `signal` is aborted, and `done`, which ends with the signal
 */
export function followGrants(options: { api: KubeClient; rbac: Rbac; log: Logger; signal: AbortSignal }): {
  ready: Promise<void>;
  done: Promise<void>;
} {
  const { api, rbac, log, signal } = options;
  const listed = kinds.map(() => Promise.withResolvers<void>());
  const loops = kinds.map((kind, at) =>
    listWatch<KubeObject>(
      api,
      kind,
      {
        onChange: () => update(),
        onSync: () => listed[at]?.resolve(),
        onFailure: (error) => log.warn({ err: error }, `cannot read ${kind.plural} yet`),
      },
      { signal },
    ),
  );
  function update(): void {
    try {
      // Lists do not name the kind of their items.
      const made = loops.flatMap(({ known }, at) =>
        [...known.values()].map(
          (object) => ({ ...object, apiVersion, kind: kinds[at]?.kind ?? '' }) as Manifest,
        ),
      );
      rbac.grant(made);
    } catch (caught) {
      log.error(
        { err: ArcError.from(caught) },
        'the roles and bindings before the last change stay in force',
      );
    }
  }
  const done = Promise.all(loops.map((loop) => loop.done)).then(() => undefined);
  const synced = Promise.all(listed.map(({ promise }) => promise)).then(() => undefined);
  return { ready: Promise.race([synced, done]), done };
}
