import { type Registries, reachRegistries } from './images.ts';
import { kubectl } from './kubectl.ts';

export const objects = (file: string): string => `test/cluster/knative/objects/${file}`;

/** Two registries, and namespace `team`, which may move images from one to the other. */
export async function prepareTeam(): Promise<Registries> {
  await kubectl('apply', '-f', objects('registries.yaml'));
  for (const name of ['source', 'destination'])
    await kubectl('-n', 'registries', 'rollout', 'status', `deployment/${name}`, '--timeout=120s');
  await kubectl('apply', '-f', objects('team.yaml'));
  await kubectl('apply', '-n', 'team', '-k', 'knative/tenant');
  return reachRegistries();
}

/** Removes both namespaces and all that is in them. */
export async function removeTeam(): Promise<void> {
  await kubectl('delete', 'namespace', 'team', 'registries', '--ignore-not-found');
}
