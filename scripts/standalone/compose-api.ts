import type { Logger } from 'pino';
import { arcKinds, type Settings } from '#shared/domain';
import type { ApiServer, KindDefinition } from '#shared/kubernetes/apiserver';
import type { Store } from '#shared/kubernetes/storage';
import {
  accessReviewKinds,
  clusterKinds,
  clusterKindsWith,
  type LiveLogs,
  type Manifest,
  rbacAuthorizer,
  rbacRules,
} from '#shared/local';
import { createArcApiServer } from '../../functions/api-server/index.ts';
import { conduitNamespace, type Identities } from './identities.ts';

/** Every kind that is stored. */
export const servedKinds: readonly KindDefinition[] = [...arcKinds, ...clusterKinds];

/** The API server of the standalone: ARC's kinds, those of a cluster it needs, and RBAC from the manifests. */
export function composeApi(parts: {
  store: Store;
  identities: Identities;
  manifests: readonly Manifest[];
  settings: () => Settings;
  liveLogs: LiveLogs;
  log: Logger;
}): ApiServer {
  const authorize = rbacAuthorizer(parts.manifests);
  return createArcApiServer({
    store: parts.store,
    authenticate: parts.identities.authenticate,
    authorize,
    extraKinds: [
      ...clusterKindsWith(parts.liveLogs),
      ...accessReviewKinds(authorize, rbacRules(parts.manifests)),
    ],
    limits: { exempt: [`system:serviceaccounts:${conduitNamespace}`] },
    settings: parts.settings,
    log: parts.log,
  });
}
