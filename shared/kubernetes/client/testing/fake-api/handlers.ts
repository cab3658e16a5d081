import { type HttpHandler, HttpResponse, type HttpResponseResolver, http } from 'msw';
import { ArcError } from '#shared/base/errors';
import { inForm } from './form.ts';
import type { ApiRequest } from './resources.ts';
import { statusOf } from './status-error.ts';

/** Handles parsed requests. Errors become Status responses. */
export interface Backend {
  /** Returns an object, or the text of a log. */
  answer(request: ApiRequest, query: URLSearchParams): object | string;
  /** Called with the status code of each response; 0: the connection was broken. */
  answered(request: ApiRequest, code: number): void;
}

/** Returns one handler per HTTP method, for every path of the API server at `url`. */
export function handlersOf(url: string, backend: Backend): HttpHandler[] {
  const resolver: HttpResponseResolver = async ({ request }) => {
    const { pathname, searchParams } = new URL(request.url);
    let api: ApiRequest | undefined;
    try {
      api = await readRequest(request, pathname, searchParams);
      const body = backend.answer(api, searchParams);
      const code = api.verb === 'create' ? 201 : 200;
      backend.answered(api, code);
      if (typeof body === 'string') return HttpResponse.text(body);
      if (body instanceof ReadableStream)
        return new HttpResponse(body, { headers: { 'content-type': 'application/json' } });
      return json(inForm(api, body), code);
    } catch (caught) {
      if (!(caught instanceof ArcError)) {
        if (api) backend.answered(api, 0);
        return HttpResponse.error();
      }
      const status = statusOf(caught);
      if (api) backend.answered(api, status.code);
      return json(status, status.code, caught.details?.retryAfterSeconds);
    }
  };
  return [http.get, http.post, http.put, http.patch, http.delete].map((method) =>
    method(`${url}/*`, resolver),
  );
}

function json(body: object, status: number, retryAfter?: number): Response {
  const headers = {
    'content-type': 'application/json',
    ...(retryAfter && { 'retry-after': `${retryAfter}` }),
  };
  return new HttpResponse(JSON.stringify(body), { status, headers });
}

const paths =
  /^\/(?:api|apis\/(?<group>[^/]+))\/(?<version>[^/]+)(?:\/namespaces\/(?<namespace>[^/]+)(?=\/(?!status$|log$|pendingworkloads$)[^/]+))?\/(?<resource>[^/]+)(?:\/(?<name>[^/]+))?(?:\/(?<subresource>status|log|pendingworkloads))?$/;

async function readRequest(request: Request, path: string, query: URLSearchParams): Promise<ApiRequest> {
  const parts = paths.exec(decodeURI(path))?.groups;
  if (parts === undefined) throw new ArcError('NotFound', 'the server could not find the requested resource');
  const { group, version = '', namespace, resource = '', name = '', subresource } = parts;
  const apiVersion = group === undefined ? version : `${group}/${version}`;
  const verb = verbOf(request.method, name !== '', query);
  const type = request.headers.get('content-type')?.split(';')[0] ?? 'application/json';
  const expected = verb === 'patch' ? 'application/merge-patch+json' : 'application/json';
  const text = await request.text();
  if (text !== '' && type !== expected)
    throw new ArcError('UnsupportedMediaType', `the fake API reads ${expected} only, not ${type}`);
  const body: ApiRequest['body'] & { metadata?: { name?: string } } =
    text === '' ? undefined : JSON.parse(text);
  return {
    verb,
    apiVersion,
    resource: decodeURIComponent(resource),
    ...(subresource !== undefined && { subresource: subresource as NonNullable<ApiRequest['subresource']> }),
    ...(namespace !== undefined && { namespace: decodeURIComponent(namespace) }),
    name: verb === 'create' ? (body?.metadata?.name ?? '') : decodeURIComponent(name),
    ...(request.headers.get('accept')?.includes('as=PartialObjectMetadata') && { metadataOnly: true }),
    ...(body && { body }),
  };
}

function verbOf(method: string, isObject: boolean, query: URLSearchParams): ApiRequest['verb'] {
  if (method === 'GET' && !isObject) return query.get('watch') === 'true' ? 'watch' : 'list';
  if (method === 'POST' && !isObject) return 'create';
  const verbs = { GET: 'get', PUT: 'update', PATCH: 'patch', DELETE: 'delete' } as const;
  if (isObject && Object.hasOwn(verbs, method)) return verbs[method as keyof typeof verbs];
  throw new ArcError('MethodNotAllowed', 'the server does not allow this method on the requested resource');
}
