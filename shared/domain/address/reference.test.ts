import { describe, expect, it } from 'vitest';
import { fc } from '#shared/base/testing';
import { AddressError } from './address-error.ts';
import {
  formatReference,
  isHost,
  isLoopback,
  parseImageName,
  parseReference,
  registryURL,
} from './reference.ts';

const component = fc.stringMatching(/^[a-z0-9]{1,8}(?:(?:\.|_|__|-{1,2})[a-z0-9]{1,5}){0,2}$/);
const repository = fc.array(component, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'));
const tag = fc.stringMatching(/^[A-Za-z0-9_][A-Za-z0-9._-]{0,20}$/);
const digest = fc.stringMatching(/^sha256:[0-9a-f]{64}$/);
const host = fc.constantFrom('localhost', 'localhost:5000', 'r.example.com', '10.0.0.1:443', '[::1]:5000');
const image = fc
  .record({ repository, tag, digest }, { requiredKeys: ['repository'] })
  .map(({ repository, tag, digest }) => ({
    repository,
    ...(tag ? { tag } : {}),
    ...(digest ? { digest } : {}),
  }));

describe('references', () => {
  it('are the same after formatting and parsing', () => {
    fc.assert(
      fc.property(image, host, (name, host) => {
        expect(parseImageName(formatReference(name))).toEqual(name);
        expect(parseReference(formatReference({ ...name, host }))).toEqual({ ...name, host });
      }),
    );
  });

  it('parse or are refused, whatever the text', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        try {
          expect(formatReference(parseImageName(text))).toBe(text);
        } catch (caught) {
          expect(caught).toBeInstanceOf(AddressError);
        }
      }),
    );
  });

  it.each([
    ['', 'repository is missing'],
    [':1.0', 'repository is missing'],
    ['Team/app', 'is not a repository path'],
    ['team//app', 'is not a repository path'],
    ['../etc', 'is not a repository path'],
    ['team/app:', 'is not a tag'],
    ['team/app:-x', 'is not a tag'],
    ['team/app@sha256:12', 'digest'],
    ['team/app@sha256:1@sha256:2', 'digest'],
    [`${'a'.repeat(256)}`, 'longer than 255'],
  ])('reject %j: %s', (text, why) => {
    expect(() => parseImageName(text)).toThrow(why);
  });

  it('need a host with a dot or a port', () => {
    expect(() => parseReference('team/app:1')).toThrow('registry host');
    expect(isHost('a.b:0')).toBe(false);
    expect(isHost('a.b:65536')).toBe(false);
    expect(isHost('user@host')).toBe(false);
  });

  it.each(['localhost', 'localhost:5000', '127.0.0.1:5000', '127.1.2.3', '[::1]:5000'])(
    'name a registry of this machine without TLS: %s',
    (host) => {
      expect(isLoopback(host)).toBe(true);
      expect(registryURL(host)).toBe(`http://${host}`);
    },
  );

  it.each(['quay.io', 'localhost.example.com', '127.0.0.1.example.com', '10.0.0.1:5000', '[::2]'])(
    'name any other registry with TLS: %s',
    (host) => expect(registryURL(host)).toBe(`https://${host}`),
  );
});
