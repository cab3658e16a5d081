import { describe, expect, it } from 'vitest';
import { fc } from '#shared/base/testing';
import { lookupDockerConfig, secretsOfDockerConfig } from './docker-config.ts';

const auth = (pair: string): string => Buffer.from(pair).toString('base64');
const config = (auths: Record<string, unknown>): string => JSON.stringify({ auths });
const user = (json: string, host: string, repository = 'team/app'): string | undefined => {
  const found = lookupDockerConfig(json, host, repository);
  return found.kind === 'basic' ? found.username : undefined;
};

describe('a docker config', () => {
  it('is searched for the longest matching path, on component boundaries', () => {
    const json = config({
      'r.io': { auth: auth('host:x') },
      'r.io/team': { auth: auth('team:x') },
      'r.io/team/app': { auth: auth('app:x') },
    });
    expect(user(json, 'r.io')).toBe('app');
    expect(user(json, 'r.io', 'team/other')).toBe('team');
    expect(user(json, 'r.io', 'teammate/app')).toBe('host');
  });

  it.each(['r.io:5000', 'https://r.io:5000', 'https://r.io:5000/v1/', 'https://r.io:5000/v2/', 'r.io:5000/'])(
    'knows the key form %s',
    (key) => {
      expect(user(config({ [key]: { auth: auth('bob:x') } }), 'r.io:5000')).toBe('bob');
    },
  );

  it('accepts the old name of Docker Hub and wildcards within a label', () => {
    expect(user(config({ 'https://index.docker.io/v1/': { auth: auth('hub:x') } }), 'docker.io')).toBe('hub');
    expect(user(config({ '*.r.io': { auth: auth('any:x') } }), 'eu.r.io')).toBe('any');
    expect(user(config({ '*.r.io': { auth: auth('any:x') } }), 'a.eu.r.io')).toBeUndefined();
    expect(
      user(config({ '*.r.io': { auth: auth('any:x') }, 'eu.r.io': { auth: auth('exact:x') } }), 'eu.r.io'),
    ).toBe('exact');
  });

  it('prefers tokens, and accepts user name and password separately or combined', () => {
    expect(
      lookupDockerConfig(config({ 'r.io': { identitytoken: 'i', auth: auth('a:b') } }), 'r.io', 'a').kind,
    ).toBe('identity');
    expect(lookupDockerConfig(config({ 'r.io': { registrytoken: 't' } }), 'r.io', 'a').kind).toBe('token');
    const apart = lookupDockerConfig(config({ 'r.io': { username: 'a', password: 'b:c' } }), 'r.io', 'a');
    const together = lookupDockerConfig(config({ 'r.io': { auth: auth('a:b:c') } }), 'r.io', 'a');
    expect(apart).toEqual({ kind: 'basic', username: 'a', password: 'b:c' });
    expect(together).toEqual(apart);
  });

  it('lists its hosts if none matches', () => {
    expect(lookupDockerConfig(config({ 'r.io': {} }), 'other.io', 'a')).toMatchObject({
      hint: expect.stringContaining('r.io'),
    });
  });

  it.each(['not json hunter22', '{}', '{"auths":[]}'])(
    'is not quoted in the error when it is malformed: %s',
    (json) => {
      expect(() => lookupDockerConfig(json, 'r.io', 'a')).toThrow(/^(?!.*hunter22).*dockerconfigjson/s);
    },
  );

  it('yields every password for masking', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-zA-Z0-9!:]{4,20}$/), (password) => {
        expect(secretsOfDockerConfig(config({ 'r.io': { auth: auth(`bob:${password}`) } }))).toContain(
          password,
        );
      }),
    );
    expect(secretsOfDockerConfig('nonsense')).toEqual([]);
  });
});
