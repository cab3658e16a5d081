import type { Logger } from 'pino';
import { arcKinds, type Settings } from '#shared/domain';
import type { ApiServer, KindDefinition } from '#shared/kubernetes/apiserver';
import type { Store } from '#shared/kubernetes/storage';
import { accessReviewKinds, clusterKinds, clusterKindsWith, type LiveLogs, type Rbac } from '#shared/local';
import { createArcApiServer } from '../../functions/api-server/index.ts';
import { conduitNamespace, type Identities } from './identities.ts';

/** All kinds served by the standalone. */
export const servedKinds: readonly KindDefinition[] = [...arcKinds, ...clusterKinds];

/** Creates the API server of the standalone: ARC's kinds, the required cluster kinds, and RBAC. */
export function composeApi(parts: {
  store: Store;
  identities: Identities;
  rbac: Rbac;
  settings: () => Settings;
  liveLogs: LiveLogs;
  log: Logger;
}): ApiServer {
  const { authorize, rulesOf } = parts.rbac;
  return createArcApiServer({
    store: parts.store,
    authenticate: parts.identities.authenticate,
    authorize,
    extraKinds: [...clusterKindsWith(parts.liveLogs), ...accessReviewKinds(authorize, rulesOf)],
    limits: { exempt: [`system:serviceaccounts:${conduitNamespace}`] },
    settings: parts.settings,
    log: parts.log,
  });
}
