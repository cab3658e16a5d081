import { describe, expect, it } from 'vitest';
import { kinds } from '../testing/test-server.ts';
import { definitionFor, hasDotSegments, type RequestInfo, requestInfo } from './request-info.ts';

const none = { namespace: '', name: '', subresource: '', rest: [] };

function infoOf(method: string, path: string): RequestInfo {
  // Not a URL, which would take out `..` itself.
  const [pathname = '', query = ''] = path.split('?');
  return requestInfo(method, { pathname, searchParams: new URLSearchParams(query) });
}

describe('requestInfo', () => {
  it.each([
    ['/apis/g/v1/widgets', { group: 'g', version: 'v1', resource: 'widgets' }],
    [
      '/apis/g/v1/widgets/w/status',
      { group: 'g', version: 'v1', resource: 'widgets', name: 'w', subresource: 'status' },
    ],
    [
      '/apis/g/v1/namespaces/n/widgets/w',
      { group: 'g', version: 'v1', resource: 'widgets', namespace: 'n', name: 'w' },
    ],
    ['/api/v1/namespaces', { group: '', version: 'v1', resource: 'namespaces' }],
    ['/api/v1/namespaces/n', { group: '', version: 'v1', resource: 'namespaces', namespace: 'n', name: 'n' }],
    [
      '/api/v1/namespaces/n/status',
      { group: '', version: 'v1', resource: 'namespaces', namespace: 'n', name: 'n', subresource: 'status' },
    ],
    ['/api/v1/namespaces/n/secrets', { group: '', version: 'v1', resource: 'secrets', namespace: 'n' }],
  ])('reads %s', (path, expected) => {
    const verb = 'name' in expected ? 'get' : 'list';
    expect(infoOf('GET', path)).toEqual({ isResourceRequest: true, verb, ...none, ...expected });
  });

  it.each([
    '/',
    '/version',
    '/api',
    '/api/v1',
    '/apis',
    '/apis/g',
    '/apis/g/v1',
    '/openapi/v3/apis/g/v1',
    '/readyz',
  ])('takes %s for a non-resource request', (path) => {
    expect(infoOf('GET', path)).toEqual({ isResourceRequest: false, verb: 'get', path });
  });

  it.each([
    '/apis/g/v1/namespaces/a%2Fb/widgets',
    '/apis/g/v1/widgets/..%2Fx',
    '/apis/g/v1/namespaces/%2e%2e/widgets/x',
    '/apis/g/v1/widgets/%zz',
    '/apis/g/v1/widgets/a%00',
  ])('refuses %s, which would leave its part of the registry', (path) => {
    expect(() => infoOf('GET', path)).toThrowError(expect.objectContaining({ code: 'BadRequest' }));
  });
});

describe('hasDotSegments', () => {
  it.each(['/apis/../api', '/api/v1/.', '/a/%2e%2E/b?x', '/a/.%2e', '/..', '/a/./b'])(
    'is true for %s',
    (target) => expect(hasDotSegments(target)).toBe(true),
  );

  it.each(['/a/..b/c', '/a/b..', '/a/...', '/a?x=/../', '/'])('is false for %s', (target) =>
    expect(hasDotSegments(target)).toBe(false),
  );
});

describe('verb and name of requestInfo', () => {
  it.each([
    ['GET', '/apis/g/v1/widgets/a', ['get', 'a']],
    ['HEAD', '/apis/g/v1/widgets/a', ['get', 'a']],
    ['GET', '/apis/g/v1/widgets', ['list', '']],
    ['GET', '/apis/g/v1/widgets?watch=true', ['watch', '']],
    ['GET', '/apis/g/v1/widgets?watch=0', ['list', '']],
    ['GET', '/apis/g/v1/widgets?watch=1&fieldSelector=metadata.name%3Da', ['watch', 'a']],
    ['GET', '/apis/g/v1/widgets?fieldSelector=metadata.name%3Da,spec.color%3Db', ['list', '']],
    ['GET', '/apis/g/v1/widgets?fieldSelector=metadata.name!%3Da', ['list', '']],
    ['POST', '/apis/g/v1/widgets?fieldSelector=metadata.name%3Da', ['create', '']],
    ['PUT', '/apis/g/v1/widgets/a', ['update', 'a']],
    ['PATCH', '/apis/g/v1/widgets/a', ['patch', 'a']],
    ['DELETE', '/apis/g/v1/widgets/a', ['delete', 'a']],
    ['DELETE', '/apis/g/v1/widgets?fieldSelector=metadata.name%3Da', ['deletecollection', '']],
  ])('%s %s is %j', (method, path, expected) => {
    const { verb, name } = { name: '', ...infoOf(method, path) };
    expect([verb, name]).toEqual(expected);
  });
});

describe('definitionFor', () => {
  it.each([
    ['/apis/test.example.com/v1/namespaces/n/widgets/w', 'Widget'],
    ['/apis/test.example.com/v1/widgets', 'Widget'],
    ['/apis/test.example.com/v1/widgets?fieldSelector=metadata.name%3Dw', 'Widget'],
    ['/apis/test.example.com/v1/widgets/w', undefined],
    ['/apis/test.example.com/v1/namespaces/n/gadgets', undefined],
    ['/apis/test.example.com/v2/widgets', undefined],
    ['/api/v1/namespaces/n', 'Namespace'],
    ['/api/v1/namespaces/n/namespaces?fieldSelector=metadata.name%3Dn', undefined],
    ['/apis/test.example.com/v1/gadgets/g/status/more', undefined],
  ])('finds for %s: %s', (path, expected) => {
    const info = infoOf('GET', path);
    expect(info.isResourceRequest && definitionFor(kinds, info)?.kind).toBe(expected);
  });
});
