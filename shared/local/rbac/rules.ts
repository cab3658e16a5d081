import * as z from 'zod';
import { ArcError } from '#shared/base/errors';
import type { Attributes, User } from '#shared/kubernetes/apiserver';
import type { Manifest } from './manifests.ts';

const strings = z.array(z.string()).default([]);

/** One PolicyRule of rbac.authorization.k8s.io/v1, absent lists empty. */
export const policyRule = z.object({
  verbs: strings,
  apiGroups: strings,
  resources: strings,
  resourceNames: strings,
  nonResourceURLs: strings,
});
export type PolicyRule = z.infer<typeof policyRule>;

const selector = z.object({ matchLabels: z.record(z.string(), z.string()).default({}) });
export const role = z.object({
  rules: z.array(policyRule).nullish(),
  aggregationRule: z.object({ clusterRoleSelectors: z.array(selector).default([]) }).optional(),
});

const subject = z.object({
  kind: z.enum(['User', 'Group', 'ServiceAccount']),
  name: z.string(),
  namespace: z.string().optional(),
});
export type Subject = z.infer<typeof subject>;
export const binding = z.object({
  subjects: z.array(subject).default([]),
  roleRef: z.object({ kind: z.enum(['Role', 'ClusterRole']), name: z.string() }),
});

/** Reads `manifest` with `schema`; throws Invalid, naming object and field. */
export function readAs<T>(schema: z.ZodType<T>, manifest: Manifest): T {
  const result = schema.safeParse(manifest);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  throw new ArcError(
    'Invalid',
    `${manifest.kind} ${manifest.metadata.name}: ${issue?.path.join('.')}: ${issue?.message}`,
  );
}

/** Whether a rule covers a request: RBAC's RuleAllows (kubernetes/plugin/pkg/auth/authorizer/rbac). */
export function ruleAllows(rule: PolicyRule, asked: Attributes): boolean {
  if (!has(rule.verbs, asked.verb)) return false;
  if (!asked.isResourceRequest)
    return rule.nonResourceURLs.some((pattern) => pathMatches(pattern, asked.path));
  return (
    has(rule.apiGroups, asked.group) &&
    rule.resources.some((resource) => resourceMatches(resource, asked.resource, asked.subresource)) &&
    // A rule with names covers no request without one: a create or an unrestricted list.
    (rule.resourceNames.length === 0 || rule.resourceNames.includes(asked.name))
  );
}

/** Whether a subject of a binding is this user; a ServiceAccount without namespace lives in the binding's. */
export function subjectIs(subject: Subject, user: User, bindingNamespace: string): boolean {
  if (subject.kind === 'User') return subject.name === user.name;
  if (subject.kind === 'Group') return user.groups.includes(subject.name);
  const namespace = subject.namespace ?? bindingNamespace;
  return user.name === `system:serviceaccount:${namespace}:${subject.name}`;
}

function has(list: readonly string[], value: string): boolean {
  return list.includes('*') || list.includes(value);
}

function resourceMatches(pattern: string, plural: string, subresource: string): boolean {
  if (pattern === '*') return true;
  if (subresource === '') return pattern === plural;
  return pattern === `${plural}/${subresource}` || pattern === `*/${subresource}`;
}

function pathMatches(pattern: string, path: string): boolean {
  return pattern.endsWith('*') ? path.startsWith(pattern.slice(0, -1)) : pattern === path;
}
