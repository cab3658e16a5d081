import type { KindDefinition } from '#shared/apiserver';
import { clusterWorkflowTemplates, cronWorkflows, workflows, workflowTemplates } from './argo.ts';
import { configMaps, namespaces, serviceAccounts } from './core.ts';
import { events } from './event.ts';
import { pods } from './pod.ts';
import { secrets } from './secret.ts';

/** core/v1 and argoproj.io/v1alpha1, as far as the conduit needs them. */
export const clusterKinds: readonly KindDefinition[] = [
  namespaces,
  secrets,
  configMaps,
  events,
  serviceAccounts,
  pods,
  workflows,
  workflowTemplates,
  clusterWorkflowTemplates,
  cronWorkflows,
];
