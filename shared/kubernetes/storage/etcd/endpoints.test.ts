import { describe, expect, it } from 'vitest';
import { checkEndpoints } from './endpoints.ts';

describe('endpoints of etcd', () => {
  it.each([
    [['http://127.0.0.1:2379']],
    [['http://[::1]:2379', 'http://etcd-1.etcd:2379']],
    [['https://etcd:2379']],
  ])('may be %j', (endpoints) => {
    expect(() => checkEndpoints(endpoints, undefined)).not.toThrow();
  });

  it.each([
    [[]],
    [['127.0.0.1:2379']],
    [['http://etcd']],
    [['ftp://etcd:2379']],
    [['http://a:2379', 'https://b:2379']],
    [['http://user:secret@a:2379']],
    [['http://a:2379/path']],
  ])('may not be %j', (endpoints) => {
    expect(() => checkEndpoints(endpoints, undefined)).toThrow(/endpoint/);
  });

  it('come with TLS files that fit', () => {
    expect(() => checkEndpoints(['https://a:1'], { ca: 'x', cert: 'y', key: 'z' })).not.toThrow();
    expect(() => checkEndpoints(['https://a:1'], { cert: 'y' })).toThrow('together');
    expect(() => checkEndpoints(['http://a:1'], { ca: 'x' })).toThrow('http');
  });
});
