import type { KubeObject } from '#shared/base/meta';

/** What .ci/rig-images.sh gives the node. */
export const bareHonoImage = 'dev.local/bare-hono:bench';
export const bareHonoName = 'bare-hono';

/** As much of a Knative Service as is looked at here. */
export interface KnativeService extends KubeObject {
  spec: {
    template: {
      metadata: Record<string, unknown>;
      spec: { containers: [Record<string, unknown>]; [field: string]: unknown };
    };
  };
}

/**
 * A Service that differs from `ours`, one of our functions as it is installed, only in its name and in what it runs: the same
 * account, probes, limits, scaling and security.
 */
export function bareHonoService(ours: KnativeService): KnativeService {
  const { namespace, labels } = ours.metadata;
  const { template } = ours.spec;
  const [container] = template.spec.containers;
  const command = ['node', `/app/${bareHonoName}.mjs`];
  const visibility = labels?.['networking.knative.dev/visibility'];
  return {
    apiVersion: ours.apiVersion,
    kind: ours.kind,
    metadata: {
      name: bareHonoName,
      ...(namespace !== undefined && { namespace }),
      labels: visibility === undefined ? {} : { 'networking.knative.dev/visibility': visibility },
    },
    spec: {
      template: {
        metadata: { annotations: template.metadata.annotations },
        spec: { ...template.spec, containers: [{ ...container, image: bareHonoImage, command }] },
      },
    },
  };
}
