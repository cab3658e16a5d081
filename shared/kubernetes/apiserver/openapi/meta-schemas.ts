import type { Schema } from './schema.ts';

/** The prefix of definitions of meta/v1 in OpenAPI documents. */
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
  'The group and version of the schema this object follows, as in v1 or example.com/v1alpha1.',
);
const kind = text('The kind of this object, in CamelCase. It cannot be changed.');
const time = 'RFC 3339 in UTC, to the second.';

export const typeFields: Record<string, Schema> = { apiVersion, kind };

const ownerReference: Schema = {
  type: 'object',
  description:
    'Names an object that owns this one, in the same namespace or cluster-scoped. When all owners are gone, the garbage collector removes the object.',
  required: ['apiVersion', 'kind', 'name', 'uid'],
  properties: {
    apiVersion: text('API version of the owner.', { default: '' }),
    kind: text('Kind of the owner.', { default: '' }),
    name: text('Name of the owner.', { default: '' }),
    uid: text('UID of the owner: an object of the same name made later is not the owner.', { default: '' }),
    controller: flag('True for the one owner that manages this object.'),
    blockOwnerDeletion: flag(
      'With foreground deletion of the owner, the owner stays until this object is gone.',
    ),
  },
  'x-kubernetes-map-type': 'atomic',
};

const managedFieldsEntry: Schema = {
  type: 'object',
  description: 'The fields that one manager has set, and when.',
  properties: {
    apiVersion: text('The version of the kind that fieldsV1 is written in.'),
    fieldsType: text('How the set of fields is written: always FieldsV1.'),
    fieldsV1: reference('FieldsV1', 'The set of fields.'),
    manager: text('Who set the fields.'),
    operation: text('Apply or Update.'),
    subresource: text('The subresource the fields were set through, or empty.'),
    time: text(`When the entry was last changed. ${time}`, { format: 'date-time' }),
  },
};

const objectMeta: Schema = {
  type: 'object',
  description:
    'What every stored object carries beside its own fields: its name, who made it, and its history.',
  properties: {
    annotations: mapOfText('Free key and value pairs for tools and people; not used to select objects.'),
    creationTimestamp: text(`When the server created the object. Set by the server. ${time}`, {
      format: 'date-time',
    }),
    deletionGracePeriodSeconds: int64('Seconds until removal, once deletion has begun. Set by the server.'),
    deletionTimestamp: text(
      `When deletion of the object was asked for; it is removed once its finalizers are empty. Set by the server. ${time}`,
      { format: 'date-time' },
    ),
    finalizers: listOfText(
      'Each entry names a component that must do its clean-up, and remove the entry, before the object is removed.',
      { 'x-kubernetes-list-type': 'set', 'x-kubernetes-patch-strategy': 'merge' },
    ),
    generateName: text(
      'Prefix for a name the server makes up, used when name is empty. The object answered carries the name.',
    ),
    generation: int64('Raised by the server with every change of the desired state.'),
    labels: mapOfText('Key and value pairs that objects are organised and selected by.'),
    managedFields: listOf(
      referenceItem('ManagedFieldsEntry'),
      'Which manager has set which fields. Kept by the server.',
      { 'x-kubernetes-list-type': 'atomic' },
    ),
    name: text('Unique within its namespace and kind. Needed on create; it cannot be changed.'),
    namespace: text('The space the name is unique in; empty for cluster-scoped kinds. It cannot be changed.'),
    ownerReferences: listOf(
      referenceItem('OwnerReference'),
      'The objects this one depends on. At most one of them is the controller.',
      {
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['uid'],
        'x-kubernetes-patch-merge-key': 'uid',
        'x-kubernetes-patch-strategy': 'merge',
      },
    ),
    resourceVersion: text(
      'The version of the object as it is stored. Opaque to clients: sent back with an update, it makes sure that nobody else changed the object in between.',
    ),
    selfLink: text('No longer set by any server.'),
    uid: text('Unique in time and space: two objects of one name, made one after the other, differ in it.'),
  },
};

const listMeta: Schema = {
  type: 'object',
  description: 'What a list carries beside its items.',
  properties: {
    continue: text('A token to read the next page with; empty on the last page.'),
    remainingItemCount: int64('How many items follow this page, where the server can tell.'),
    resourceVersion: text('The version of the whole collection: a watch can start from it.'),
    selfLink: text('No longer set by any server.'),
  },
};

const statusCause: Schema = {
  type: 'object',
  description: 'One of several things that were wrong.',
  properties: {
    field: text('The field it is about, as in spec.artifacts[0].type.'),
    message: text('What is wrong, for people.'),
    reason: text('What is wrong, for programs.'),
  },
};

const statusDetails: Schema = {
  type: 'object',
  description: 'More about a failure, where the reason defines it.',
  properties: {
    causes: listOf(referenceItem('StatusCause'), 'Everything that was wrong.', {
      'x-kubernetes-list-type': 'atomic',
    }),
    group: text('API group of the resource.'),
    kind: text('Kind or plural name of the resource.'),
    name: text('Name of the object.'),
    retryAfterSeconds: { type: 'integer', format: 'int32', description: 'When to try again.' },
    uid: text('UID of the object.'),
  },
};

const status: Schema = {
  type: 'object',
  description: 'The answer to a request that returns no object: every failure, and most deletions.',
  properties: {
    ...typeFields,
    code: { type: 'integer', format: 'int32', description: 'The HTTP status, 0 if not set.' },
    details: {
      ...reference('StatusDetails', 'More, where the reason defines it.'),
      'x-kubernetes-list-type': 'atomic',
    },
    message: text('What happened, for people.'),
    metadata: reference('ListMeta', 'Standard list metadata.'),
    reason: text('What happened, for programs, as in NotFound.'),
    status: text('Success or Failure.'),
  },
};

const preconditions: Schema = {
  type: 'object',
  description: 'What must hold for the object, or nothing is done.',
  properties: {
    resourceVersion: text('The resourceVersion the object must have.'),
    uid: text('The UID the object must have.'),
  },
};

const deleteOptions: Schema = {
  type: 'object',
  description: 'How to delete.',
  properties: {
    ...typeFields,
    dryRun: listOfText('All: go through every stage, write nothing.', { 'x-kubernetes-list-type': 'atomic' }),
    gracePeriodSeconds: int64('Seconds to wait before removal; 0 is at once.'),
    ignoreStoreReadErrorWithClusterBreakingPotential: flag(
      'Asks to remove an object that cannot be read any more.',
    ),
    orphanDependents: flag('Deprecated in favour of propagationPolicy.'),
    preconditions: reference('Preconditions', 'What must hold, or the answer is 409 Conflict.'),
    propagationPolicy: text(
      'What happens to owned objects: Background removes them afterwards, Foreground before, Orphan keeps them.',
    ),
  },
};

const watchEvent: Schema = {
  type: 'object',
  description: 'One line of a watch.',
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

/** Every definition of meta/v1 that our documents refer to, by its short name. References are in OpenAPI v3 form. */
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
  Patch: { type: 'object', description: 'A patch of the form its Content-Type names.' },
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

/** ObjectMeta without references, for checking fields. */
export function objectMetaSchema(): Schema {
  inlinedMeta ??= inlined(objectMeta);
  return inlinedMeta;
}
