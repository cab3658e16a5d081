import type { KindDefinition } from '#shared/kubernetes/apiserver';
import { clusterWorkflowTemplates, cronWorkflows, workflows, workflowTemplates } from './argo.ts';
import { configMaps, namespaces, serviceAccounts } from './core.ts';
import { events } from './event.ts';
import { createLiveLogs, type LiveLogs } from './live-logs.ts';
import { podKind } from './pod.ts';
import { rbacKinds } from './rbac.ts';
import { secrets } from './secret.ts';

/** core/v1, rbac.authorization.k8s.io/v1 and argoproj.io/v1alpha1, as far as the conduit needs them. Logs of pods that run are those in `liveLogs`. */
export const clusterKindsWith = (liveLogs: LiveLogs): readonly KindDefinition[] => [
  namespaces,
  secrets,
  configMaps,
  events,
  serviceAccounts,
  podKind(liveLogs),
  workflows,
  workflowTemplates,
  clusterWorkflowTemplates,
  cronWorkflows,
  ...rbacKinds,
];

/** The same where no program runs. */
export const clusterKinds = clusterKindsWith(createLiveLogs());
