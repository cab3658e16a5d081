import type { Schema } from './schema.ts';

/** The prefix of meta/v1 definitions in OpenAPI documents. */
export const metaPrefix = 'io.k8s.apimachinery.pkg.apis.meta.v1';

function text(description: string, more: Schema = {}): Schema {
  return { type: 'string', description, ...more };
}

function flag(description: string): Schema {
  return { type: 'boolean', description };
}

function int64(description: string): Schema {
  return { type: 'integer', format: 'int64', description };
}

function reference(name: string, description: string): Schema {
  return { allOf: [{ $ref: `#/components/schemas/${metaPrefix}.${name}` }], default: {}, description };
}

function mapOfText(description: string): Schema {
  return { type: 'object', additionalProperties: { type: 'string', default: '' }, description };
}

function listOf(items: Schema, description: string, more: Schema = {}): Schema {
  return { type: 'array', items, description, ...more };
}

function listOfText(description: string, more: Schema = {}): Schema {
  return listOf({ type: 'string', default: '' }, description, more);
}

function referenceItem(name: string): Schema {
  return { allOf: [{ $ref: `#/components/schemas/${metaPrefix}.${name}` }], default: {} };
}

const apiVersion = text(
  'Group and version of the schema of this object, such as v1 or example.com/v1alpha1.',
);
const kind = text('The kind of this object, in CamelCase. It cannot be changed.');
const time = 'RFC 3339 in UTC, to the second.';

export const typeFields: Record<string, Schema> = { apiVersion, kind };

const ownerReference: Schema = {
  type: 'object',
  description:
    'Refers to an owner of this object, in the same namespace or cluster-scoped. The garbage collector deletes the object when all its owners are deleted.',
  required: ['apiVersion', 'kind', 'name', 'uid'],
  properties: {
    apiVersion: text('API version of the owner.', { default: '' }),
    kind: text('Kind of the owner.', { default: '' }),
    name: text('Name of the owner.', { default: '' }),
    uid: text('UID of the owner. A later object with the same name is not the owner.', { default: '' }),
    controller: flag('True for the owner that is the controller of this object.'),
    blockOwnerDeletion: flag('Foreground deletion of the owner waits until this object is deleted.'),
  },
  'x-kubernetes-map-type': 'atomic',
};

const managedFieldsEntry: Schema = {
  type: 'object',
  description: 'The fields owned by a manager.',
  properties: {
    apiVersion: text('The API version to which fieldsV1 applies.'),
    fieldsType: text('Format of the set of fields: always FieldsV1.'),
    fieldsV1: reference('FieldsV1', 'The set of fields.'),
    manager: text('Name of the manager.'),
    operation: text('Apply or Update.'),
    subresource: text('The subresource through which the fields were set, or empty.'),
    time: text(`When the entry was last changed. ${time}`, { format: 'date-time' }),
  },
};

const objectMeta: Schema = {
  type: 'object',
  description: 'Standard metadata of every stored object.',
  properties: {
    annotations: mapOfText('Arbitrary key-value pairs for tools and people; not used to select objects.'),
    creationTimestamp: text(`When the server created the object. Set by the server. ${time}`, {
      format: 'date-time',
    }),
    deletionGracePeriodSeconds: int64(
      'Grace period in seconds before the object is removed. Set by the server.',
    ),
    deletionTimestamp: text(
      `When deletion of the object was requested; it is removed when its finalizers are empty. Set by the server. ${time}`,
      { format: 'date-time' },
    ),
    finalizers: listOfText(
      'Each finalizer identifies a component that must clean up and remove it before the object is removed.',
      { 'x-kubernetes-list-type': 'set', 'x-kubernetes-patch-strategy': 'merge' },
    ),
    generateName: text('Prefix of a name that the server generates if name is empty.'),
    generation: int64('Incremented by the server with every change of the desired state.'),
    labels: mapOfText('Key-value pairs by which objects are organized and selected.'),
    managedFields: listOf(
      referenceItem('ManagedFieldsEntry'),
      'Fields by manager. Maintained by the server.',
      { 'x-kubernetes-list-type': 'atomic' },
    ),
    name: text('Unique within its namespace and kind. Required on create; it cannot be changed.'),
    namespace: text(
      'The namespace in which the name is unique; empty for cluster-scoped kinds. It cannot be changed.',
    ),
    ownerReferences: listOf(
      referenceItem('OwnerReference'),
      'The owners of this object. At most one of them is the controller.',
      {
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['uid'],
        'x-kubernetes-patch-merge-key': 'uid',
        'x-kubernetes-patch-strategy': 'merge',
      },
    ),
    resourceVersion: text(
      'The version of the stored object, opaque to clients. In an update it is a precondition (optimistic concurrency).',
    ),
    selfLink: text('No longer set by any server.'),
    uid: text('Unique in time and space: distinguishes successive objects with the same name.'),
  },
};

const listMeta: Schema = {
  type: 'object',
  description: 'Standard metadata of a list.',
  properties: {
    continue: text('Token of the next page; empty on the last page.'),
    remainingItemCount: int64('Number of items after this page, if known.'),
    resourceVersion: text('The version of the collection, from which a watch can start.'),
    selfLink: text('No longer set by any server.'),
  },
};

const statusCause: Schema = {
  type: 'object',
  description: 'A cause of a failure.',
  properties: {
    field: text('The field in question, such as spec.artifacts[0].type.'),
    message: text('Human-readable description.'),
    reason: text('Machine-readable reason.'),
  },
};

const statusDetails: Schema = {
  type: 'object',
  description: 'Details of a failure, as defined by its reason.',
  properties: {
    causes: listOf(referenceItem('StatusCause'), 'All causes of the failure.', {
      'x-kubernetes-list-type': 'atomic',
    }),
    group: text('API group of the resource.'),
    kind: text('Kind or plural name of the resource.'),
    name: text('Name of the object.'),
    retryAfterSeconds: { type: 'integer', format: 'int32', description: 'Seconds after which to retry.' },
    uid: text('UID of the object.'),
  },
};

const status: Schema = {
  type: 'object',
  description: 'The response to a request that returns no object: failures and most deletions.',
  properties: {
    ...typeFields,
    code: { type: 'integer', format: 'int32', description: 'The HTTP status, 0 if not set.' },
    details: {
      ...reference('StatusDetails', 'Details, as defined by the reason.'),
      'x-kubernetes-list-type': 'atomic',
    },
    message: text('Human-readable description.'),
    metadata: reference('ListMeta', 'Standard list metadata.'),
    reason: text('Machine-readable reason, such as NotFound.'),
    status: text('Success or Failure.'),
  },
};

const preconditions: Schema = {
  type: 'object',
  description: 'Preconditions of the operation.',
  properties: {
    resourceVersion: text('The resourceVersion that the object must have.'),
    uid: text('The UID that the object must have.'),
  },
};

const deleteOptions: Schema = {
  type: 'object',
  description: 'Options of a delete.',
  properties: {
    ...typeFields,
    dryRun: listOfText('All: run every stage without storing anything.', {
      'x-kubernetes-list-type': 'atomic',
    }),
    gracePeriodSeconds: int64('Grace period in seconds before removal; 0: immediately.'),
    ignoreStoreReadErrorWithClusterBreakingPotential: flag('Removes an object that can no longer be read.'),
    orphanDependents: flag('Deprecated in favour of propagationPolicy.'),
    preconditions: reference('Preconditions', 'Preconditions; 409 Conflict if they fail.'),
    propagationPolicy: text(
      'How dependents are deleted: Background after the object, Foreground before it, Orphan keeps them.',
    ),
  },
};

const watchEvent: Schema = {
  type: 'object',
  description: 'An event of a watch.',
  required: ['type', 'object'],
  properties: {
    object: {
      type: 'object',
      description:
        'The new state for ADDED and MODIFIED, the last for DELETED, the resourceVersion for BOOKMARK, a Status for ERROR.',
      'x-kubernetes-preserve-unknown-fields': true,
    },
    type: text('ADDED, MODIFIED, DELETED, BOOKMARK or ERROR.', { default: '' }),
  },
};

/** The meta/v1 definitions that documents refer to, by short name. References are in OpenAPI v3 format. */
export const metaSchemas: Readonly<Record<string, Schema>> = {
  DeleteOptions: deleteOptions,
  FieldsV1: {
    type: 'object',
    description: 'A set of fields as a tree of f:name, k:{keys}, v:value and . for the field itself.',
  },
  ListMeta: listMeta,
  ManagedFieldsEntry: managedFieldsEntry,
  ObjectMeta: objectMeta,
  OwnerReference: ownerReference,
  Patch: { type: 'object', description: 'A patch in the format of its Content-Type.' },
  Preconditions: preconditions,
  Status: status,
  StatusCause: statusCause,
  StatusDetails: statusDetails,
  WatchEvent: watchEvent,
};

function inlined(schema: Schema): Schema {
  const target = schema.allOf?.[0]?.$ref;
  if (target !== undefined) {
    const name = target.slice(target.lastIndexOf('.') + 1);
    return inlined(metaSchemas[name] ?? {});
  }
  const result = { ...schema };
  if (schema.items) result.items = inlined(schema.items);
  if (schema.properties) {
    const fields = Object.entries(schema.properties).map(([name, field]) => [name, inlined(field)]);
    result.properties = Object.fromEntries(fields);
  } else if (schema.type === 'object' && !schema.additionalProperties) {
    result['x-kubernetes-preserve-unknown-fields'] = true;
  }
  return result;
}

let inlinedMeta: Schema | undefined;

/** Returns ObjectMeta with inlined references. */
export function objectMetaSchema(): Schema {
  inlinedMeta ??= inlined(objectMeta);
  return inlinedMeta;
}
