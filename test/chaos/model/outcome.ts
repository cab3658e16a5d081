import {
  type ArtifactWorkflow,
  artifactWorkflows,
  cronWorkflows,
  endpoints,
  isFinished,
  labels,
  orders,
  secrets,
  workflows,
} from '#shared/domain';
import { endpointRef } from '../../../shared/domain/plan/endpoint-use.ts';
import { namespace } from '../../../shared/domain/testing/objects.ts';
import type { World } from './world.ts';

/** The Order that a scenario is about. */
export const at = { namespace, name: 'order' };

/** What is left when nothing moves any more. */
export interface Outcome {
  broken: string[];
  phase: string | undefined;
  /** Phase by image, of what stands for it. */
  artifacts: Record<string, string>;
  /** Places at the destination that hold another image than the Order's status says. */
  lies: string[];
  /** Images whose present ArtifactWorkflow was made for other Endpoints than there are. */
  outdated: string[];
  /** Names of Workflows that were created more than once, or beyond what was asked for. */
  doubled: string[];
  /** What should not lie around: unfinished ArtifactWorkflows nobody asks for, rendered Secrets, running Workflows. */
  litter: string[];
}

/** Where a scenario differs from all being well. */
interface Expecting {
  expected: Partial<Outcome>;
}

const good: Outcome = {
  broken: [],
  phase: 'Succeeded',
  artifacts: { 'team/app:1': 'Succeeded', 'team/web:1': 'Succeeded' },
  lies: [],
  outdated: [],
  doubled: [],
  litter: [],
};

/** All of what a scenario expects: where it says nothing, that all is well. */
export const expectedOf = ({ expected }: Expecting): Outcome => ({ ...good, ...expected });

/** For what depends on when it happened. */
export function expectAnything(): string[] {
  return ['*'];
}

/** How everything stands. `allowed` is what depends on when things happened. */
export function outcomeOf(world: World, { expected }: Expecting): Outcome {
  const { kube, broken, submitted } = world;
  const one = kube.read(orders, at);
  const children = kube.all(artifactWorkflows);
  const entries = Object.entries(one?.status?.artifactWorkflows ?? {});
  const specAt = (index: number) => one?.spec.artifacts?.[index]?.spec ?? {};
  const imageAt = (index: number) => String(specAt(index).image);
  const lies = entries.flatMap(([, { artifactIndex, phase }]) => {
    const image = imageAt(artifactIndex);
    const place = String(specAt(artifactIndex).override ?? image);
    const held = world.registry.get(place);
    return phase === 'Succeeded' && held !== image ? [`${place} holds ${held}, not ${image}`] : [];
  });
  const inForce = new Set(entries.map(([key]) => key));
  const current = children.filter(({ metadata }) => inForce.has(metadata.name.slice(-16)));
  const doubled = submitted.filter((name, index) => submitted.indexOf(name) !== index);
  const any = (found: string[], allowed: string[] | undefined) => (allowed?.[0] === '*' ? allowed : found);
  return {
    broken,
    phase: one?.status?.phase,
    artifacts: Object.fromEntries(
      entries.map(([, { artifactIndex, phase }]) => [imageAt(artifactIndex), phase]),
    ),
    lies,
    outdated: any(current.filter((child) => isOutdated(world, child)).map(nameOf), expected.outdated),
    doubled: any(doubled, expected.doubled),
    litter: [
      ...children.filter((child) => !isFinished(child) && !current.includes(child)).map(nameOf),
      ...children.filter(({ metadata }) => metadata.labels?.[labels.order] !== one?.metadata.uid).map(nameOf),
      ...kube
        .all(workflows)
        .filter((run) => !isDone(run.status?.phase))
        .map(nameOf),
      ...kube
        .all(secrets)
        .filter((one) => !isKept(one.metadata.name, current))
        .map(nameOf),
      ...kube
        .all(cronWorkflows)
        .filter(({ metadata }) => !current.some((child) => child.metadata.name === metadata.name))
        .map(nameOf),
    ],
  };
}

function isOutdated({ kube }: World, { spec }: ArtifactWorkflow): boolean {
  const used = (side: string) => spec.parameters?.find(({ name }) => name === `${side}RemoteURL`)?.value;
  return (['src', 'dst'] as const).some((side) => {
    const ref = spec[`${side}Ref`];
    const found = ref && kube.read(endpoints, { namespace, name: ref.name });
    return (
      used(side) !== found?.spec.remoteURL ||
      ref?.digest !== (found && endpointRef(found).digest) ||
      ref?.secretGeneration !== found?.status?.secretGeneration
    );
  });
}

function isDone(phase: string | undefined): boolean {
  return phase === 'Succeeded' || phase === 'Failed';
}

/** The user's own, the conduit's key, and the configuration of what runs on a schedule. */
function isKept(name: string, current: readonly ArtifactWorkflow[]): boolean {
  if (name === 'credentials' || name === 'arc-credential-key') return true;
  return current.some(({ metadata, spec }) => metadata.name === name && spec.cron !== undefined);
}

function nameOf({ kind, metadata }: { kind: string; metadata: { name: string } }): string {
  return `${kind} ${metadata.name}`;
}
