import { expect, it } from 'vitest';
import { isTrustedRealm } from './realm.ts';

it.each([
  ['ghcr.io', 'ghcr.io'],
  ['registry.gitlab.com', 'gitlab.com'],
  ['r.io', 'auth.r.io'],
  ['registry-1.docker.io', 'auth.docker.io'],
])('credentials of %s may go to %s', (registry, realm) =>
  expect(isTrustedRealm(registry, realm, [])).toBe(true),
);

it.each([
  ['r.io', 'evil.io'],
  ['r.io', 'io'],
  ['team.azurecr.io', 'evil.azurecr.io'],
  ['r.io', 'evilr.io'],
  ['registry', 'evil.registry'],
  ['ghcr.io', 'auth.docker.io'],
])('credentials of %s do not go to %s unless it is named', (registry, realm) => {
  expect(isTrustedRealm(registry, realm, [])).toBe(false);
  expect(isTrustedRealm(registry, realm, [realm])).toBe(true);
});
