import { arcKinds } from '#shared/domain';
import { accept, get, type Scenario, type Step } from './scenario.ts';

type Json = Record<string, unknown>;

/** What a server says of itself names groups and kinds that only it has: compared is what it says of ours. */
const ours = ['orders', 'artifactworkflows', 'artifacttypes', 'clusterartifacttypes', 'endpoints'];
const byName = (field: string) => (list: unknown) =>
  [...((list ?? []) as Json[])].sort((a, b) => (String(a[field]) < String(b[field]) ? -1 : 1));

/** A CRD has no actions: they are left out. */
const actions = new Set(arcKinds.flatMap((kind) => kind.actions.map(({ name }) => name as string)));
const isAction = (path: unknown) => actions.has(`${path}`.split('/').at(-1) ?? '');

const isOurs = (name: unknown) =>
  ours.some((plural) => name === plural || `${name}`.startsWith(`${plural}/`)) && !isAction(name);

const legacyGroup = (body: Json, group: string) =>
  ((body.groups ?? []) as Json[]).find(({ name }) => name === group);

/** Hashes name the group; verbs are a set. */
const legacyResources = (body: Json) => ({
  ...body,
  resources: byName('name')(body.resources)
    .filter(({ name }) => isOurs(name))
    .map(({ storageVersionHash, ...resource }) => ({
      ...sortedVerbs(resource),
      hashed: storageVersionHash !== undefined,
    })),
});

function sortedVerbs(resource: Json): Json {
  const verbs = [...(resource.verbs as string[])].sort();
  return { ...resource, verbs };
}

function withoutActions(resource: Json): Json {
  const { subresources, ...rest } = resource;
  if (subresources === undefined) return rest;
  return { ...rest, subresources: (subresources as Json[]).filter((one) => !isAction(one.subresource)) };
}

const aggregated = (body: Json, group: string) => {
  const items = (body.items ?? []) as { metadata: Json; versions: Json[] }[];
  const found = items.find(({ metadata }) => metadata.name === group);
  return {
    ...body,
    items: found?.versions.map((version) => ({
      ...version,
      resources: byName('resource')(version.resources)
        .filter(({ resource }) => isOurs(resource))
        .map(withoutActions)
        .map(sortedVerbs),
    })),
  };
};

/** What clients look for in an OpenAPI v3 document: operations with their parameters and bodies, fields with their types. */
const operations = (body: Json) => {
  const paths = Object.entries((body.paths ?? {}) as Record<string, Json>);
  return Object.fromEntries(
    paths
      .filter(
        ([path]) =>
          ours.some((plural) => path.includes(`/${plural}`)) && !path.includes('/watch/') && !isAction(path),
      )
      .map(([path, methods]) => [
        path,
        Object.fromEntries(
          Object.entries(methods)
            .filter(([method]) => method !== 'parameters')
            .map(([method, operation]) => [method, operationOf(method, operation as Json, methods)]),
        ),
      ]),
  );
};

/**
 * A CRD's document has the parameters of lists with the path, one for the revision of a GET, none for `pretty`, and says
 * nothing of the options and the body of a DELETE: compared is what is asked of the other methods.
 */
function operationOf(method: string, operation: Json, path: Json): Json {
  const { parameters, requestBody } = operation;
  const all = [...((parameters ?? []) as Json[]), ...((path.parameters ?? []) as Json[])];
  const names = all.map(({ name }) => name).filter((name) => name !== 'pretty' && name !== 'resourceVersion');
  return {
    action: operation['x-kubernetes-action'],
    kind: operation['x-kubernetes-group-version-kind'],
    ...(method !== 'delete' && {
      parameters: names.sort(),
      consumes: Object.keys(((requestBody as Json)?.content as Json) ?? {}).sort(),
    }),
  };
}

const v2 = accept('application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList');
const picked = (step: Step, pick: NonNullable<Step['pick']>): Step => ({ ...step, pick });

export const documents: Scenario[] = [
  {
    name: 'documents: discovery',
    steps: [
      picked(get('/apis'), legacyGroup),
      get('/apis/@{group}'),
      // As clients send it that are generated from kube-apiserver's own document.
      picked(get('/apis/'), legacyGroup),
      get('/apis/@{group}/'),
      picked(get('/apis/@{group}/v1alpha1/'), legacyResources),
      picked(get('/apis/@{group}/v1alpha1'), legacyResources),
      get('/apis/@{group}/v2'),
      get('/apis/nothing.example.com'),
      get('/apis/nothing.example.com/v1'),
      picked(get('/apis', v2), aggregated),
      picked(
        get(
          '/apis',
          accept('application/json;g=apidiscovery.k8s.io;v=v9;as=APIGroupDiscoveryList,application/json'),
        ),
        legacyGroup,
      ),
      get('/apis/@{group}', accept('application/yaml')),
    ],
  },
  {
    name: 'documents: openapi',
    steps: [picked(get('/openapi/v3/apis/@{group}/v1alpha1'), operations)],
  },
];
