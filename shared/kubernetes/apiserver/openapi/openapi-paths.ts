import type { Action, KindDefinition, TextSubresource } from '../kinds/definition.ts';
import { hasStatus, rootPath } from '../kinds/served-kinds.ts';
import { metaPrefix } from './meta-schemas.ts';
import { capital, definitionPrefix, operationId, operationTag } from './openapi-names.ts';
import {
  deleteParameters,
  forceParameter,
  listParameters,
  nameParameter,
  namespaceParameter,
  type Parameter,
  pretty,
  query,
  selectorParameters,
  writeParameters,
} from './openapi-parameters.ts';
import type { GroupVersionKind } from './schema.ts';

/** An operation, independent of the OpenAPI version. */
export interface Operation {
  description: string;
  operationId: string;
  tags: string[];
  'x-kubernetes-action': string;
  'x-kubernetes-group-version-kind': GroupVersionKind;
  parameters: Parameter[];
  /** Definition of the body. */
  body?: string;
  /** Media types of the body. */
  consumes?: readonly string[];
  /** Definition of the response by status; undefined for text. */
  responses: Readonly<Record<string, string | undefined>>;
}

export type Method = 'get' | 'put' | 'post' | 'patch' | 'delete';

export interface PathItem {
  parameters: Parameter[];
  operations: Partial<Record<Method, Operation>>;
}

const bodyTypes = ['application/json', 'application/yaml'];
const patchTypes = [
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/apply-patch+yaml',
];
const patch = `${metaPrefix}.Patch`;
const status = `${metaPrefix}.Status`;
const deleteOptions = `${metaPrefix}.DeleteOptions`;

interface Subject {
  definition: KindDefinition;
  scope: 'Namespaced' | '';
  suffix: '' | 'ForAllNamespaces' | 'Status';
}

function operation(
  subject: Subject,
  verb: string,
  action: string,
  more: Pick<Operation, 'description' | 'responses'> & Partial<Operation>,
): Operation {
  const { definition, scope, suffix } = subject;
  const { group, version, kind } = definition;
  return {
    operationId: operationId(verb, definition, scope, `${kind}${suffix}`),
    tags: [operationTag(definition)],
    'x-kubernetes-action': action,
    'x-kubernetes-group-version-kind': { group, version, kind },
    ...more,
    parameters: [...(more.parameters ?? []), pretty],
  };
}

function kindName(definition: KindDefinition): string {
  return `${definitionPrefix(definition)}.${definition.kind}`;
}

function list(subject: Subject): Operation {
  const { definition } = subject;
  return operation(subject, 'list', 'list', {
    description: `list or watch objects of kind ${definition.kind}`,
    parameters: [...listParameters],
    responses: { 200: `${kindName(definition)}List` },
  });
}

function create(subject: Subject): Operation {
  const object = kindName(subject.definition);
  return operation(subject, 'create', 'post', {
    description: `create a ${subject.definition.kind}`,
    parameters: [...writeParameters],
    body: object,
    consumes: bodyTypes,
    responses: { 200: object, 201: object, 202: object },
  });
}

function deleteCollection(subject: Subject): Operation {
  return operation(subject, 'deletecollection', 'deletecollection', {
    description: `delete objects of kind ${subject.definition.kind}`,
    parameters: [...deleteParameters, ...selectorParameters],
    body: deleteOptions,
    consumes: bodyTypes,
    responses: { 200: status },
  });
}

function read(subject: Subject): Operation {
  return operation(subject, 'read', 'get', {
    description: `read the specified ${subject.definition.kind}`,
    responses: { 200: kindName(subject.definition) },
  });
}

function replace(subject: Subject): Operation {
  const object = kindName(subject.definition);
  return operation(subject, 'replace', 'put', {
    description: `replace the specified ${subject.definition.kind}`,
    parameters: [...writeParameters],
    body: object,
    consumes: bodyTypes,
    responses: { 200: object, 201: object },
  });
}

function partialUpdate(subject: Subject): Operation {
  const object = kindName(subject.definition);
  return operation(subject, 'patch', 'patch', {
    description: `partially update the specified ${subject.definition.kind}`,
    parameters: [...writeParameters, forceParameter],
    body: patch,
    consumes: patchTypes,
    responses: { 200: object, 201: object },
  });
}

function remove(subject: Subject): Operation {
  return operation(subject, 'delete', 'delete', {
    description: `delete a ${subject.definition.kind}`,
    parameters: [...deleteParameters],
    body: deleteOptions,
    consumes: bodyTypes,
    responses: { 200: status, 202: status },
  });
}

function act(subject: Subject, { name, description }: Action): Operation {
  const { definition } = subject;
  return {
    ...operation(subject, 'create', 'post', {
      description: `${description} (${definition.kind})`,
      parameters: [...writeParameters],
      responses: { 201: kindName(definition) },
    }),
    operationId: operationId('create', definition, subject.scope, `${definition.kind}${capital(name)}`),
  };
}

function readText(subject: Subject, { name, description, options }: TextSubresource): Operation {
  const { definition } = subject;
  return {
    ...operation(subject, 'read', 'get', { description, responses: { 200: undefined } }),
    operationId: operationId('read', definition, subject.scope, `${definition.kind}${capital(name)}`),
    parameters: options.map((option) => query(option.name, option.type, option.description)),
  };
}

/** Returns the paths of a kind with their operations, without the deprecated paths below `/watch`. */
export function pathsOf(definition: KindDefinition): [path: string, item: PathItem][] {
  const namespaced = definition.scope === 'Namespaced';
  const root = rootPath(definition);
  const collection = `${root}${namespaced ? '/namespaces/{namespace}' : ''}/${definition.plural}`;
  const subject: Subject = { definition, scope: namespaced ? 'Namespaced' : '', suffix: '' };
  const inCollection = namespaced ? [namespaceParameter] : [];
  if (definition.virtual)
    return [[collection, { parameters: inCollection, operations: { post: create(subject) } }]];
  const ofObject = [nameParameter(definition.kind), ...inCollection];
  const paths: [string, PathItem][] = [
    [
      collection,
      {
        parameters: inCollection,
        operations: { get: list(subject), post: create(subject), delete: deleteCollection(subject) },
      },
    ],
    [
      `${collection}/{name}`,
      {
        parameters: ofObject,
        operations: {
          get: read(subject),
          put: replace(subject),
          patch: partialUpdate(subject),
          delete: remove(subject),
        },
      },
    ],
  ];
  if (hasStatus(definition)) {
    const part: Subject = { ...subject, suffix: 'Status' };
    const operations = { get: read(part), put: replace(part), patch: partialUpdate(part) };
    paths.push([`${collection}/{name}/status`, { parameters: ofObject, operations }]);
  }
  for (const action of definition.actions ?? []) {
    const operations = { post: act(subject, action) };
    paths.push([`${collection}/{name}/${action.name}`, { parameters: ofObject, operations }]);
  }
  for (const text of definition.texts ?? []) {
    const operations = { get: readText(subject, text) };
    paths.push([`${collection}/{name}/${text.name}`, { parameters: ofObject, operations }]);
  }
  if (namespaced) {
    const allNamespaces: Subject = { definition, scope: '', suffix: 'ForAllNamespaces' };
    paths.push([
      `${root}/${definition.plural}`,
      { parameters: [], operations: { get: list(allNamespaces) } },
    ]);
  }
  return paths;
}
