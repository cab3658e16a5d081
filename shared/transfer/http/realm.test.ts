import { expect, it } from 'vitest';
import { isTrustedRealm } from './realm.ts';

const at = (host: string) => new URL(`https://${host}`);

it.each([
  ['ghcr.io', 'ghcr.io'],
  ['gitlab.example.com:5050', 'gitlab.example.com'],
  ['registry.gitlab.com', 'gitlab.com'],
  ['r.io', 'auth.r.io'],
  ['registry-1.docker.io', 'auth.docker.io'],
])('credentials of %s may go to %s', (registry, realm) =>
  expect(isTrustedRealm(at(registry), at(realm))).toBe(true),
);

it.each([
  ['r.io', 'evil.io'],
  ['r.io', 'io'],
  ['team.azurecr.io', 'evil.azurecr.io'],
  ['r.io', 'evilr.io'],
  ['registry', 'evil.registry'],
  ['ghcr.io', 'auth.docker.io'],
  ['10.0.0.1:5000', '10.0.0.1:5001'],
  ['[fd00::1]:5000', '[fd00::1]:5001'],
])('credentials of %s do not go to %s by themselves', (registry, realm) => {
  expect(isTrustedRealm(at(registry), at(realm))).toBe(false);
});
