/** api-server: the kinds of ARC on the generic API server, with our admission plug-ins. */

import type { Logger } from '#shared/base/telemetry';
import { arcKinds, type Settings } from '#shared/domain';
import {
  type ApiServer,
  type ApiServerOptions,
  createApiServer,
  type KindDefinition,
  storedObjects,
} from '#shared/kubernetes/apiserver';
import { artifactSchemas } from './artifact-schema.ts';
import { byHand } from './by-hand.ts';
import type { ClusterQuotas } from './operator/cluster-quotas.ts';
import { operatorDefaults } from './operator/defaults.ts';
import { operatorLimits } from './operator/limits.ts';
import { namespaceQuota } from './operator/namespace-quota.ts';
import { rerunRate } from './operator/rerun-rate.ts';
import { requestedByServer } from './requested-by.ts';
import { rerunTimes } from './rerun-time.ts';
import { secretReferences } from './secret-reference.ts';

export interface ArcApiServerOptions extends Omit<ApiServerOptions, 'kinds' | 'log' | 'quota'> {
  /** Further kinds: the standalone adds those that a cluster would provide. */
  extraKinds?: readonly KindDefinition[];
  log?: Logger;
  /** The operator's settings at any time. Default: none are set. */
  settings?: () => Settings;
  /** The ResourceQuotas of the cluster. Default: there are none. */
  clusterQuotas?: ClusterQuotas;
}

/** Serves `arc.opendefense.cloud/v1alpha1` from `store`. Close the server before the store. */
export function createArcApiServer(options: ArcApiServerOptions): ApiServer {
  const { extraKinds = [], admission = [], log, settings = () => ({}), clusterQuotas, ...rest } = options;
  const now = options.now ?? (() => new Date());
  const kinds = [...arcKinds, ...extraKinds];
  const stored = storedObjects(kinds, options.store);
  return createApiServer({
    ...rest,
    now,
    kinds,
    admission: [
      secretReferences(options.authorize),
      rerunTimes(now),
      requestedByServer,
      artifactSchemas(stored),
      byHand(stored, settings),
      operatorDefaults(settings),
      operatorLimits(stored, settings),
      ...admission,
      // Last: what another plug-in refuses costs nothing.
      rerunRate(settings, now),
    ],
    quota: namespaceQuota(settings, clusterQuotas),
    ...(log === undefined
      ? {}
      : { log: (message: string, caught: unknown) => log.error({ err: caught }, message) }),
  });
}
