import { describe, expect, it } from 'vitest';
import { resolveAddress } from './image-address.ts';

describe('resolveAddress', () => {
  it.each([
    ['https://r.io', 'team/app:1', 'https://r.io', 'team/app'],
    ['https://r.io:8443/mirror/', 'team/app:1', 'https://r.io:8443', 'mirror/team/app'],
    ['r.io/mirror', 'app', 'https://r.io', 'mirror/app'],
    ['http://127.0.0.1:5000', 'app', 'http://127.0.0.1:5000', 'app'],
    ['oci://r.io/x', 'app', 'https://r.io', 'x/app'],
    ['docker.io', 'alpine:3', 'https://registry-1.docker.io', 'library/alpine'],
    ['https://Docker.IO:443', 'alpine:3', 'https://registry-1.docker.io', 'library/alpine'],
    ['https://R.io:443', 'app', 'https://r.io', 'app'],
    ['http://r.io:80', 'app', 'http://r.io', 'app'],
    ['https://docker.io/team', 'app', 'https://registry-1.docker.io', 'team/app'],
  ])('combines %s and %s into %s /v2/%s', (remoteURL, image, origin, repository) => {
    expect(resolveAddress(remoteURL, image)).toMatchObject({ origin, repository });
  });

  it('uses plain HTTP where the Endpoint allows it', () => {
    expect(resolveAddress('r.io', 'app', { plainHTTP: true }).origin).toBe('http://r.io');
  });

  it.each([
    ['s3://bucket', 'not "s3"'],
    ['https://', 'is not a host name'],
    ['https://r.io/?x=1', 'must have the form'],
    ['https://r.io/UPPER', 'is not a repository path'],
  ])('rejects %s: %s', (remoteURL, why) => {
    expect(() => resolveAddress(remoteURL, 'app')).toThrow(why);
  });

  it('rejects https together with plainHTTP and never repeats credentials of a URL', () => {
    expect(() => resolveAddress('https://r.io', 'app', { plainHTTP: true })).toThrow('plainHTTP');
    expect(() => resolveAddress('https://bob:hunter22@r.io', 'app')).toThrow(/^(?!.*hunter22).*secretRef/s);
  });
});
