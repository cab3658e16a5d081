import { describe, expect, it } from 'vitest';
import { kinds } from '../testing/test-server.ts';
import { attributesOf, definitionFor, parseTarget, verbOf } from './request-info.ts';

const none = { namespace: '', name: '', subresource: '', rest: [] };

describe('parseTarget', () => {
  it.each([
    ['/apis/g/v1/widgets', { group: 'g', version: 'v1', plural: 'widgets' }],
    [
      '/apis/g/v1/widgets/w/status',
      { group: 'g', version: 'v1', plural: 'widgets', name: 'w', subresource: 'status' },
    ],
    [
      '/apis/g/v1/namespaces/n/widgets/w',
      { group: 'g', version: 'v1', plural: 'widgets', namespace: 'n', name: 'w' },
    ],
    ['/api/v1/namespaces', { group: '', version: 'v1', plural: 'namespaces' }],
    ['/api/v1/namespaces/n', { group: '', version: 'v1', plural: 'namespaces', namespace: 'n', name: 'n' }],
    [
      '/api/v1/namespaces/n/status',
      { group: '', version: 'v1', plural: 'namespaces', namespace: 'n', name: 'n', subresource: 'status' },
    ],
    ['/api/v1/namespaces/n/secrets', { group: '', version: 'v1', plural: 'secrets', namespace: 'n' }],
  ])('reads %s', (path, expected) => {
    expect(parseTarget(path)).toEqual({ ...none, ...expected });
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
  ])('takes %s for no resource', (path) => {
    expect(parseTarget(path)).toBeUndefined();
  });

  it.each([
    '/apis/g/v1/namespaces/a%2Fb/widgets',
    '/apis/g/v1/widgets/..%2Fx',
    '/apis/g/v1/namespaces/%2e%2e/widgets/x',
    '/apis/g/v1/widgets/%zz',
    '/apis/g/v1/widgets/a%00',
  ])('refuses %s, which would step out of its place', (path) => {
    expect(() => parseTarget(path)).toThrowError(expect.objectContaining({ code: 'BadRequest' }));
  });
});

describe('attributesOf', () => {
  const about = (method: string, path: string) => {
    const url = new URL(path, 'http://test.invalid');
    const target = parseTarget(url.pathname);
    if (!target) throw new Error('no target');
    const { verb, name } = {
      name: '',
      ...attributesOf(target, verbOf(method, target, url.searchParams), url.searchParams),
    };
    return [verb, name];
  };

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
    expect(about(method, path)).toEqual(expected);
  });
});

describe('definitionFor', () => {
  it.each([
    ['/apis/test.example.com/v1/namespaces/n/widgets/w', 'Widget'],
    ['/apis/test.example.com/v1/widgets', 'Widget'],
    ['/apis/test.example.com/v1/widgets/w', undefined],
    ['/apis/test.example.com/v1/namespaces/n/gadgets', undefined],
    ['/apis/test.example.com/v2/widgets', undefined],
    ['/api/v1/namespaces/n', 'Namespace'],
    ['/apis/test.example.com/v1/gadgets/g/status/more', undefined],
  ])('finds for %s: %s', (path, expected) => {
    const target = parseTarget(path);
    expect(target && definitionFor(kinds, target)?.kind).toBe(expected);
  });
});
