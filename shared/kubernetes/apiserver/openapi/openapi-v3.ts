import type { ServedVersion } from '../kinds/served-kinds.ts';
import { definitionsOf } from './openapi-definitions.ts';
import { type Operation, type PathItem, pathsOf } from './openapi-paths.ts';

const answerTypes = ['application/json', 'application/yaml'];

function content(types: readonly string[], definition: string): object {
  const media = { schema: { $ref: `#/components/schemas/${definition}` } };
  return Object.fromEntries(types.map((type) => [type, media]));
}

function operation({ body, consumes = [], responses, ...rest }: Operation): object {
  const answers = Object.entries(responses).map(([status, definition]) => [
    status,
    {
      description: status === '200' ? 'OK' : status === '201' ? 'Created' : 'Accepted',
      content:
        definition === undefined
          ? { 'text/plain': { schema: { type: 'string' } } }
          : content(answerTypes, definition),
    },
  ]);
  return {
    ...rest,
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            content: content(consumes, body),
            // Only DeleteOptions are optional.
            ...(rest['x-kubernetes-action'].startsWith('delete') ? {} : { required: true }),
          },
        }),
    responses: { ...Object.fromEntries(answers), 401: { description: 'Unauthorized' } },
  };
}

function pathItem({ parameters, operations }: PathItem): object {
  const methods = Object.entries(operations).map(([method, one]) => [method, operation(one)]);
  return { ...Object.fromEntries(methods), ...(parameters.length > 0 ? { parameters } : {}) };
}

/** Returns the OpenAPI 3.0 document of a group version, for kubectl explain, validation and editors. */
export function openApiV3(served: ServedVersion, version: string): object {
  const paths = served.kinds.flatMap(pathsOf).map(([path, item]) => [path, pathItem(item)] as const);
  return {
    openapi: '3.0.0',
    info: { title: 'ARC, the Artifact Conduit', version },
    paths: Object.fromEntries(paths.toSorted(([a], [b]) => (a < b ? -1 : 1))),
    components: { schemas: definitionsOf(served.kinds) },
  };
}
