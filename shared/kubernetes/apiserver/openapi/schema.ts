/**
 * The subset of OpenAPI 3.0 in structural schemas of Kubernetes, used for documents, pruning and field ownership.
 */
export interface Schema {
  type?: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean';
  format?: string;
  description?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: Schema;
  items?: Schema;
  allOf?: Schema[];
  anyOf?: Schema[];
  $ref?: string;
  enum?: unknown[];
  default?: unknown;
  nullable?: boolean;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  'x-kubernetes-preserve-unknown-fields'?: boolean;
  'x-kubernetes-int-or-string'?: boolean;
  'x-kubernetes-group-version-kind'?: GroupVersionKind[];
  [keyword: string]: unknown;
}

export interface GroupVersionKind {
  group: string;
  version: string;
  kind: string;
}

/** Returns the schema of an arbitrary value, which preserves unknown fields. */
export function freeForm(description?: string): Schema {
  return {
    ...(description === undefined ? {} : { description }),
    'x-kubernetes-preserve-unknown-fields': true,
  };
}
