import { describe, expect, it } from 'vitest';
import { aggregatedRules } from './aggregation.ts';
import type { Manifest } from './manifests.ts';

const role = (name: string, labels: Record<string, string>, over: object): Manifest => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  metadata: { name, labels },
  ...over,
});
const picks = (key: string) => ({
  aggregationRule: { clusterRoleSelectors: [{ matchLabels: { [key]: 'true' } }] },
});
const reads = (resource: string) => ({
  rules: [{ apiGroups: ['g'], resources: [resource], verbs: ['get'] }],
});
const resources = (roles: Manifest[], name: string) =>
  aggregatedRules(roles)
    .get(name)
    ?.flatMap((rule) => rule.resources);

describe('aggregatedRules', () => {
  it('gathers the rules of roles that the labels select, over several steps', () => {
    const roles = [
      role('admin', {}, picks('to-admin')),
      role('edit', { 'to-admin': 'true' }, picks('to-edit')),
      role('a', { 'to-edit': 'true' }, reads('a')),
      role('b', { 'to-admin': 'true' }, reads('b')),
      role('c', {}, reads('c')),
    ];
    expect(resources(roles, 'edit')).toEqual(['a']);
    expect(resources(roles, 'admin')).toEqual(['a', 'b']);
    expect(resources(roles, 'c')).toEqual(['c']);
  });

  it('ends on roles that pick each other', () => {
    const roles = [
      role('x', { q: 'true' }, picks('p')),
      role('y', { p: 'true' }, picks('q')),
      role('z', { p: 'true' }, reads('z')),
    ];
    expect(resources(roles, 'x')).toEqual(['z']);
    expect(resources(roles, 'y')).toEqual(['z']);
  });
});
