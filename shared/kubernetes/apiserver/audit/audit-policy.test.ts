import { describe, expect, it } from 'vitest';
import type { User } from '../authentication/user/user.ts';
import type { Attributes } from '../authorization/authorizer.ts';
import { chooseAudit, parseAuditPolicy } from './audit-policy.ts';

const head = 'apiVersion: audit.k8s.io/v1\nkind: Policy\n';
const list: Attributes = {
  isResourceRequest: true,
  verb: 'list',
  group: 'g',
  version: 'v1',
  resource: 'things',
  subresource: '',
  namespace: 'ns',
  name: '',
};

function levelOf(
  rules: string,
  attributes: Attributes,
  user: User = { name: 'jo', groups: ['dev'] },
): string {
  const policy = parseAuditPolicy(`${head}rules:\n${rules}`);
  return chooseAudit(policy, { user, info: attributes }).level;
}

describe('chooseAudit', () => {
  it.each([
    ['- { level: Metadata }', 'Metadata'],
    ['- { level: None, users: [jo] }\n- { level: Metadata }', 'None'],
    ['- { level: None, users: [ann] }\n- { level: Metadata }', 'Metadata'],
    ['- { level: Request, userGroups: [ops, dev] }', 'Request'],
    ['- { level: Request, verbs: [get] }', 'None'],
    ['- { level: Request, namespaces: [ns] }', 'Request'],
    ['- { level: Request, namespaces: [other] }', 'None'],
    ['- { level: Request, nonResourceURLs: ["*"] }', 'None'],
    ['- { level: Request, resources: [{ group: g }] }', 'Request'],
    ['- { level: Request, resources: [{ group: "" }] }', 'None'],
    ['- { level: Request, resources: [{ group: g, resources: [things] }] }', 'Request'],
    ['- { level: Request, resources: [{ group: g, resources: ["things/status"] }] }', 'None'],
    ['- { level: Request, resources: [{ group: g, resources: [things], resourceNames: [it] }] }', 'None'],
  ])('%s: %s', (rules, level) => {
    expect(levelOf(rules, list)).toBe(level);
  });

  it.each([
    ['things', 'None'],
    ['things/status', 'Request'],
    ['things/*', 'Request'],
    ['*/status', 'Request'],
    ['*', 'Request'],
    ['*/scale', 'None'],
  ])('matches a subresource with %s: %s', (pattern, level) => {
    const rules = `- { level: Request, resources: [{ group: g, resources: ['${pattern}'] }] }`;
    expect(levelOf(rules, { ...list, subresource: 'status', name: 'it' })).toBe(level);
  });

  it.each([
    ['/healthz*', 'Request'],
    ['/healthz/store', 'Request'],
    ['/healthz', 'None'],
    ['*', 'Request'],
  ])('matches the path /healthz/store with %s: %s', (pattern, level) => {
    const rules = `- { level: Request, nonResourceURLs: ['${pattern}'] }`;
    expect(levelOf(rules, { isResourceRequest: false, verb: 'get', path: '/healthz/store' })).toBe(level);
  });
});

describe('parseAuditPolicy', () => {
  it.each([
    ['broken YAML', 'a: [', /not valid YAML/],
    ['another kind', 'apiVersion: v1\nkind: Policy\nrules: [{ level: None }]', /apiVersion/],
    ['no rules', `${head}rules: []`, /rules/],
    ['a wrong level', `${head}rules: [{ level: Everything }]`, /rules\.0\.level/],
    ['a misspelled field', `${head}rules: [{ level: None, user: [jo] }]`, /user/],
  ])('rejects %s and names it', (_what, text, message) => {
    expect(() => parseAuditPolicy(text)).toThrow(message);
  });
});
