import { describe, expect, it } from 'vitest';
import { parsePlace } from './place.ts';

describe('a place', () => {
  it.each([
    ['r.io/team/app:1', 'https://r.io', 'team/app:1'],
    ['oci://r.io:8443/app', 'https://r.io:8443', 'app'],
    ['docker://docker.io/library/alpine:3', 'https://docker.io', 'library/alpine:3'],
    ['oci+http://r.io/app:1', 'http://r.io', 'app:1'],
    ['oci+https://127.0.0.1:5000/app:1', 'https://127.0.0.1:5000', 'app:1'],
    ['127.0.0.1:5000/app', 'http://127.0.0.1:5000', 'app'],
    ['localhost:5000/', 'http://localhost:5000', undefined],
    ['r.io', 'https://r.io', undefined],
    ['r.io/mirror/', 'https://r.io/mirror', undefined],
  ])('%s is %s and %s', (text, remoteURL, name) => {
    expect(parsePlace(text)).toMatchObject({ type: 'oci', remoteURL, name });
  });

  it.each([
    ['oci-layout:/srv/app:1.0', 'file:///srv/app', '1.0'],
    ['oci-layout:/srv/app:team/app:1.0', 'file:///srv/app', 'team/app:1.0'],
    ['oci-layout:///srv/app', 'file:///srv/app', undefined],
  ])('%s is the folder %s and %s', (text, remoteURL, name) => {
    expect(parsePlace(text)).toEqual({ type: 'oci-layout', remoteURL, name });
  });

  it.each([
    ['https://h.io/dist/app.tgz', 'http', 'https://h.io', 'dist/app.tgz'],
    ['https://h.io/dist/', 'http', 'https://h.io/dist', undefined],
    ['https://h.io:443/di%20st/a%20b+50%.tgz', 'http', 'https://h.io', 'di st/a b+50%.tgz'],
    ['https://h.io/a%20b/', 'http', 'https://h.io/a%20b', undefined],
    ['dav://h.io:81/x', 'webdav', 'http://h.io:81', 'x'],
    ['helm+https://charts.io/stable/app:1.2', 'helm', 'https://charts.io/stable', 'app:1.2'],
    ['s3://bucket/dir/app.tgz', 's3', 's3://bucket', 'dir/app.tgz'],
    ['s3://bucket/dir/', 's3', 's3://bucket/dir', undefined],
    ['s3://bucket/a%20b/', 's3', 's3://bucket/a%2520b', undefined],
    ['s3://bucket/a%20b', 's3', 's3://bucket', 'a%20b'],
    ['helm+https://charts.io/app', 'helm', 'https://charts.io', 'app'],
  ])('%s is of type %s', (text, type, remoteURL, name) => {
    expect(parsePlace(text)).toMatchObject({ type, remoteURL, name });
  });

  it.each(['https://bob:hunter22@h.io/x', 'https://h.io/x?token=hunter22', 'https://'])(
    '%s is refused without its secrets',
    (text) => expect(() => parsePlace(text)).toThrow(/^(?!.*hunter22).*cannot be used/s),
  );

  it.each([
    ['oci-layout:', 'needs a folder'],
    ['https://h.io/a%2Fb', 'a name cannot contain %2F'],
    ['alpine:3', 'does not start with a registry host'],
    ['team/app', 'does not start with a registry host'],
    ['ftp://r.io/app', 'its scheme is "ftp://", which is not one of oci://'],
    ['r.io/Team/App', 'is not a repository path'],
  ])('cannot be %s: %s', (text, why) => {
    expect(() => parsePlace(text)).toThrow(why);
  });
});
