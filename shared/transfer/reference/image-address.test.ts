import { describe, expect, it } from 'vitest';
import { resolvePlace } from './image-address.ts';

describe('a place', () => {
  it.each([
    ['https://r.io', 'team/app:1', 'https://r.io', 'team/app'],
    ['https://r.io:8443/mirror/', 'team/app:1', 'https://r.io:8443', 'mirror/team/app'],
    ['r.io/mirror', 'app', 'https://r.io', 'mirror/app'],
    ['http://127.0.0.1:5000', 'app', 'http://127.0.0.1:5000', 'app'],
    ['oci://r.io/x', 'app', 'https://r.io', 'x/app'],
    ['docker.io', 'alpine:3', 'https://registry-1.docker.io', 'library/alpine'],
    ['https://docker.io/team', 'app', 'https://registry-1.docker.io', 'team/app'],
  ])('of %s and %s is %s /v2/%s', (remoteURL, image, origin, repository) => {
    expect(resolvePlace(remoteURL, image)).toMatchObject({ origin, repository });
  });

  it('is reached without TLS where the Endpoint says so', () => {
    expect(resolvePlace('r.io', 'app', { plainHTTP: true }).origin).toBe('http://r.io');
  });

  it.each([
    ['s3://bucket', 'not by "s3"'],
    ['https://', 'no host name'],
    ['https://r.io/?x=1', 'is written'],
    ['https://r.io/UPPER', 'no repository path'],
  ])('cannot be %s: %s', (remoteURL, why) => {
    expect(() => resolvePlace(remoteURL, 'app')).toThrow(why);
  });

  it('refuses https together with plainHTTP, and never repeats credentials in a URL', () => {
    expect(() => resolvePlace('https://r.io', 'app', { plainHTTP: true })).toThrow('plainHTTP');
    expect(() => resolvePlace('https://bob:hunter22@r.io', 'app')).toThrow(/^(?!.*hunter22).*secretRef/s);
  });
});
