import { applyMergePatch, type KubeObject } from '#shared/base/meta';
import {
  type ArtifactWorkflow,
  annotations,
  artifactTypes,
  artifactWorkflows,
  clusterArtifactTypes,
  clusterWorkflowTemplates,
  endpoints,
  isSecretMissing,
  needsPerson,
  type Order,
  orders,
  secrets,
  serviceAccounts,
  workflows,
} from '#shared/domain';
import { orderActions } from '../../../shared/domain/actions/actions.ts';
import { namespace, ociTemplate, ociType, order, secret } from '../../../shared/domain/testing/objects.ts';
import { account, isOver } from './argo.ts';
import type { Conduit } from './conduit.ts';
import {
  asNew,
  create,
  ifPossible,
  type Operation,
  type Place,
  patch,
  remove,
  removeOne,
  unseen,
} from './edits.ts';
import type { Limits } from './limits.ts';
import { asked, timedOperations } from './timed-operations.ts';

const app = 'mirror/app:stable';
const web = 'mirror/web:stable';
const imagesOfApp = ['team/app:1', 'team/app:2', 'team/app:3'];

function firstOrder(appImage = 'team/app:1', webImage = 'team/web:1', webPlace = web): Order['spec'] {
  return {
    defaults: { srcRef: { name: 'source' }, dstRef: { name: 'destination' } },
    artifacts: [
      { type: 'oci', spec: { image: appImage, override: app } },
      { type: 'oci', name: 'web', spec: { image: webImage, override: webPlace } },
    ],
  };
}

/** The Order, another one that writes to one of its places, and all that they need. */
const type = asNew(ociType());
export const credentials = asNew(secret('credentials', { username: 'mover', password: 'old' }));
const source = unseen('source', { secretRef: { name: 'credentials' } });
const needed: readonly [Place, KubeObject][] = [
  [clusterArtifactTypes, type],
  [clusterWorkflowTemplates, asNew(ociTemplate())],
  [secrets, credentials],
  [serviceAccounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: account, namespace } }],
  [endpoints, source],
  [endpoints, unseen('destination')],
];
const first = asNew(order('order', [], firstOrder()));
const other = asNew(
  order('other', [], {
    artifacts: [{ type: 'oci', name: 'app', spec: { image: 'team/other:1', override: app } }],
  }),
);

/** What is there at the beginning. */
export const objectsUnder = (limits: Limits): readonly KubeObject[] => [
  ...needed.map(([, object]) => limited(object, limits)),
  limited(first, limits),
];
export const objects = objectsUnder({});

function limited(object: KubeObject, { maxInFlight, parallelism }: Limits): KubeObject {
  const { name } = object.metadata;
  const limit = {
    ...(name === 'destination' && maxInFlight !== undefined ? { maxInFlight } : {}),
    ...(name === 'order' && parallelism !== undefined ? { parallelism } : {}),
  };
  return applyMergePatch(object, Object.keys(limit).length === 0 ? {} : { spec: limit }) as KubeObject;
}

const at = { namespace, name: 'order' };
const otherAt = { namespace, name: 'other' };

export const operations: Readonly<Record<string, Operation>> = {
  'edit the image': (conduit, choice) => {
    const artifacts = firstOrder(imagesOfApp[choice % 3], choice % 2 ? 'team/web:1' : 'team/web:2').artifacts;
    return patch(conduit, orders, at, { spec: { artifacts } });
  },
  'exchange the places': (conduit) => {
    const { artifacts } = firstOrder('team/web:1', 'team/app:1');
    return patch(conduit, orders, at, { spec: { artifacts } });
  },
  'take an artifact out': (conduit) =>
    patch(conduit, orders, at, { spec: { artifacts: firstOrder().artifacts?.slice(0, 1) } }),
  'put it back': (conduit) => patch(conduit, orders, at, { spec: firstOrder() }),
  'let two write to one place': (conduit) => {
    conduit.collided = true;
    return patch(conduit, orders, at, { spec: firstOrder('team/app:1', 'team/web:1', app) });
  },
  'create the other Order': (conduit) => create(conduit, orders, other),
  'edit the other Order': (conduit, choice) => {
    const [artifact] = other.spec.artifacts ?? [];
    const image = `team/other:${(choice % 2) + 1}`;
    return patch(conduit, orders, otherAt, {
      spec: { artifacts: [{ ...artifact, spec: { image, override: app } }] },
    });
  },
  'delete the other Order': (conduit) => remove(conduit, orders, otherAt),
  'delete the Order': (conduit) => remove(conduit, orders, at),
  'create the Order': (conduit) => create(conduit, orders, limited(first, conduit.limits)),
  cancel: (conduit) => patch(conduit, orders, at, { spec: { cancel: true } }),
  'take the cancel back': (conduit) => patch(conduit, orders, at, { spec: { cancel: null } }),
  'cancel one artifact': (conduit) => {
    const [one, ...others] = firstOrder().artifacts ?? [];
    return patch(conduit, orders, at, { spec: { artifacts: [{ ...one, cancel: true }, ...others] } });
  },
  suspend: (conduit) => patch(conduit, orders, at, { spec: { suspend: true } }),
  resume: (conduit) => patch(conduit, orders, at, { spec: { suspend: null } }),
  force: (conduit) => annotate(conduit, annotations.forceAt),
  retry: (conduit) => annotate(conduit, annotations.retryAt),
  'keep less history': (conduit, choice) =>
    patch(conduit, orders, at, { spec: { revisionHistoryLimit: choice % 3 } }),
  'let a transfer fail': async ({ argo }, choice) => {
    const image = imagesOfApp[choice % 3] ?? '';
    // Two further attempts are the default: it succeeds in the end.
    argo.failures.set(image, Math.min(2, (argo.failures.get(image) ?? 0) + 1));
  },
  'delete an ArtifactWorkflow': (conduit, choice) => removeOne(conduit, artifactWorkflows, choice),
  'delete a Workflow': (conduit, choice) => removeOne(conduit, workflows, choice),
  'delete a rendered Secret': (conduit, choice) =>
    removeOne(conduit, secrets, choice, ({ metadata }) => metadata.name.startsWith('order-')),
  'move the source': (conduit, choice) =>
    patch(conduit, endpoints, source.metadata, {
      spec: { remoteURL: `https://source-${choice % 2}.example.com` },
    }),
  'edit what moves nothing': (conduit, choice) =>
    patch(conduit, endpoints, source.metadata, { spec: { maxInFlight: (choice % 3) + 1 } }),
  'change the credentials': (conduit, choice) =>
    patch(conduit, secrets, credentials.metadata, {
      data: { password: Buffer.from(`password ${choice % 3}`).toString('base64') },
    }),
  'set parameters of the type': (conduit, choice) =>
    patch(conduit, clusterArtifactTypes, type.metadata, {
      spec: { parameters: choice % 2 ? [{ name: 'scan', value: 'strict' }] : null },
    }),
  'say what a change does': (conduit, choice) =>
    patch(conduit, orders, at, { spec: { onChange: ['Rerun', 'RerunUnfinished', 'Keep'][choice % 3] } }),
  'move the destination': (conduit, choice) =>
    patch(
      conduit,
      endpoints,
      { namespace, name: 'destination' },
      {
        spec: { remoteURL: `https://destination-${choice % 2}.example.com` },
      },
    ),
  'give an artifact another name': (conduit, choice) => {
    const [one, web] = firstOrder().artifacts ?? [];
    return patch(conduit, orders, at, {
      spec: { artifacts: [one, { ...web, name: choice % 2 ? 'web' : 'site' }] },
    });
  },
  'shadow the type': (conduit, choice) => {
    const { metadata, spec, ...rest } = asNew(ociType());
    const parameters = choice % 2 ? [{ name: 'scan', value: 'strict' }] : [];
    const own = {
      ...rest,
      kind: 'ArtifactType',
      metadata: { ...metadata, namespace },
      spec: { ...spec, parameters },
    };
    return create(conduit, artifactTypes, own);
  },
  'take the shadow away': (conduit) => remove(conduit, artifactTypes, { namespace, name: 'oci' }),
  'stop a Workflow by hand': async (conduit, choice) => {
    const all = conduit.kube.all(workflows).filter((one) => !isOver(one));
    const one = all[choice % all.length];
    if (!one) return;
    conduit.meddled = true;
    await patch(conduit, workflows, one.metadata, { spec: { shutdown: choice % 2 ? 'Stop' : 'Terminate' } });
  },
  'take away what is needed': (conduit, choice) => {
    const [place, object] = needed[choice % needed.length] ?? [endpoints, source];
    return remove(conduit, place, object.metadata);
  },
  'bring back what is needed': restore,
  'uninstall Argo': async ({ argo }) => argo.uninstall(),
  'install Argo': async ({ argo }) => argo.install(),
  'refuse Workflows': async (conduit) => {
    conduit.refuses = true;
  },
  'allow Workflows': async (conduit) => {
    conduit.refuses = false;
  },
  'cancel an ArtifactWorkflow': async (conduit, choice) => {
    const all = conduit.kube.all(artifactWorkflows);
    const one = all[choice % all.length];
    if (one) await patch(conduit, artifactWorkflows, one.metadata, { spec: { cancel: true } });
  },
  'restart the bridge': async (conduit, choice) => {
    conduit.hasRestarted = true;
    conduit.acknowledged.clear();
    conduit.bridge.restart(choice);
  },
  ...timedOperations,
};

/** True if nothing that an Order needs is absent or refused. What nobody watches is back with the next look at it. */
export function isWhole({ kube, argo, refuses }: Conduit): boolean {
  const isThere = needed.every(([place, object]) => kube.read<KubeObject>(place, object.metadata));
  const waits = ({ status = {} }: ArtifactWorkflow) =>
    needsPerson(status.waitReason) || needsPerson(status.configReason);
  const isSeen = !kube.all(endpoints).some(isSecretMissing) && !kube.all(artifactWorkflows).some(waits);
  return isThere && argo.installed && !refuses && isSeen;
}

/** Everything that is needed is there, and nothing is held back. */
export async function heal(conduit: Conduit): Promise<void> {
  conduit.argo.install();
  await restore(conduit);
  conduit.refuses = false;
  for (const { metadata } of conduit.kube.all(orders))
    await patch(conduit, orders, metadata, { spec: { suspend: null } });
  // A cancel of the Order may stay: it says so. One of an ArtifactWorkflow says nothing in the Order's spec.
  for (const { metadata, spec } of conduit.kube.all(artifactWorkflows))
    if (spec.cancel === true) await patch(conduit, artifactWorkflows, metadata, { spec: { cancel: null } });
}

/** What was stopped by hand runs again. */
export async function retryAll(conduit: Conduit): Promise<void> {
  for (const order of conduit.kube.all(orders)) {
    const next = orderActions.find(({ name }) => name === 'retry')?.act(order, asked(conduit));
    if (next) await ifPossible(conduit.client.replace(orders, next));
  }
}

async function restore(conduit: Conduit): Promise<void> {
  for (const [place, object] of needed) await create(conduit, place, limited(object, conduit.limits));
}

async function annotate(conduit: Conduit, annotation: string): Promise<void> {
  await patch(conduit, orders, at, {
    metadata: { annotations: { [annotation]: String(conduit.apiSeconds) } },
  });
}
