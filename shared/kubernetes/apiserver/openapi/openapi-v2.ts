import type { KindDefinition } from '../kinds/definition.ts';
import { definitionsOf } from './openapi-definitions.ts';
import type { Parameter } from './openapi-parameters.ts';
import { type Operation, type PathItem, pathsOf } from './openapi-paths.ts';
import type { Schema } from './schema.ts';

const answerTypes = ['application/json', 'application/yaml'];

function reference(definition: string): { $ref: string } {
  return { $ref: `#/definitions/${definition}` };
}

function mapValues(values: Record<string, Schema>): Record<string, Schema> {
  return Object.fromEntries(Object.entries(values).map(([name, schema]) => [name, downgrade(schema)]));
}

/** Converts a schema to 2.0: nullable and alternatives become untyped values, `allOf` references become plain references. */
function downgrade(schema: Schema): Schema {
  const { allOf, anyOf, nullable, properties, items, additionalProperties, ...rest } = schema;
  const target = allOf?.[0]?.$ref;
  if (target !== undefined) {
    const { default: _, ...described } = rest;
    return { ...described, ...reference(target.slice('#/components/schemas/'.length)) };
  }
  if (nullable || anyOf) {
    const { type: _, format: __, ...untyped } = rest;
    return untyped;
  }
  return {
    ...rest,
    ...(properties ? { properties: mapValues(properties) } : {}),
    ...(items ? { items: downgrade(items) } : {}),
    ...(additionalProperties ? { additionalProperties: downgrade(additionalProperties) } : {}),
  };
}

function parameter({ schema, ...rest }: Parameter): object {
  return { ...rest, ...schema };
}

function operation({ body, consumes, responses, parameters, ...rest }: Operation): object {
  const answers = Object.entries(responses).map(([status, definition]) => [
    status,
    {
      description: status === '200' ? 'OK' : status === '201' ? 'Created' : 'Accepted',
      schema: definition === undefined ? { type: 'string' } : reference(definition),
    },
  ]);
  const required = rest['x-kubernetes-action'].startsWith('delete') ? {} : { required: true };
  const bodies =
    body === undefined ? [] : [{ name: 'body', in: 'body', ...required, schema: reference(body) }];
  return {
    ...rest,
    ...(consumes ? { consumes } : {}),
    produces: Object.values(responses).includes(undefined) ? ['text/plain'] : answerTypes,
    schemes: ['https'],
    parameters: [...bodies, ...parameters.map(parameter)],
    responses: { ...Object.fromEntries(answers), 401: { description: 'Unauthorized' } },
  };
}

function pathItem({ parameters, operations }: PathItem): object {
  const methods = Object.entries(operations).map(([method, one]) => [method, operation(one)]);
  const shared = parameters.map(parameter);
  return { ...Object.fromEntries(methods), ...(shared.length > 0 ? { parameters: shared } : {}) };
}

/** Returns the OpenAPI 2.0 document of all kinds, which the aggregator merges into its own. */
export function openApiV2(kinds: readonly KindDefinition[], version: string): object {
  const paths = kinds.flatMap(pathsOf).map(([path, item]) => [path, pathItem(item)] as const);
  return {
    swagger: '2.0',
    info: { title: 'ARC, the Artifact Conduit', version },
    paths: Object.fromEntries(paths.toSorted(([a], [b]) => (a < b ? -1 : 1))),
    definitions: mapValues(definitionsOf(kinds)),
  };
}
