import { parse as parseYaml } from 'yaml';
import * as z from 'zod';
import { ArcError } from '#shared/base/errors';
import type { User } from '../authentication/user/user.ts';
import type { Attributes } from '../authorization/authorizer.ts';

const levels = ['None', 'Metadata', 'Request', 'RequestResponse'] as const;
const stages = ['RequestReceived', 'ResponseStarted', 'ResponseComplete', 'Panic'] as const;

export type Level = (typeof levels)[number];
export type Stage = (typeof stages)[number];

const texts = z.array(z.string()).default([]);
const resources = z.strictObject({ group: z.string().default(''), resources: texts, resourceNames: texts });
const rule = z.strictObject({
  level: z.enum(levels),
  users: texts,
  userGroups: texts,
  verbs: texts,
  resources: z.array(resources).default([]),
  namespaces: texts,
  nonResourceURLs: texts,
  omitStages: z.array(z.enum(stages)).default([]),
  omitManagedFields: z.boolean().optional(),
});
const policy = z.strictObject({
  apiVersion: z.literal('audit.k8s.io/v1'),
  kind: z.literal('Policy'),
  metadata: z.unknown().optional(),
  rules: z.array(rule).min(1),
  omitStages: z.array(z.enum(stages)).default([]),
  omitManagedFields: z.boolean().default(false),
});

export type AuditPolicy = z.infer<typeof policy>;
type Rule = AuditPolicy['rules'][number];

/** Parses an audit.k8s.io/v1 Policy in YAML or JSON. Throws Invalid that names the invalid fields. */
export function parseAuditPolicy(text: string): AuditPolicy {
  let value: unknown;
  try {
    value = parseYaml(text, { maxAliasCount: 100 });
  } catch (caught) {
    throw new ArcError('Invalid', `the audit policy is not valid YAML: ${ArcError.from(caught).message}`);
  }
  const parsed = policy.safeParse(value);
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
  throw new ArcError('Invalid', `the audit policy is invalid: ${faults.join('; ')}`);
}

/** The audit level of a request, and what to omit. */
export interface AuditChoice {
  level: Level;
  omitStages: ReadonlySet<Stage>;
  omitManagedFields: boolean;
}

/** The part of a request that a policy matches. */
export interface PolicySubject {
  user: User | undefined;
  info: Attributes | undefined;
}

/** Evaluates a policy: the first matching rule decides, level None without a match (k8s.io/apiserver, audit/policy/checker.go). */
export function chooseAudit(policy: AuditPolicy, request: PolicySubject): AuditChoice {
  const found = policy.rules.find((each) => matches(each, request));
  return {
    level: found?.level ?? 'None',
    omitStages: new Set([...policy.omitStages, ...(found?.omitStages ?? [])]),
    omitManagedFields: found?.omitManagedFields ?? policy.omitManagedFields,
  };
}

function matches(rule: Rule, { user, info }: PolicySubject): boolean {
  const any = (list: readonly string[], ...values: readonly string[]) =>
    list.length === 0 || values.some((value) => list.includes(value));
  if (!any(rule.users, user?.name ?? '') || !any(rule.userGroups, ...(user?.groups ?? []))) return false;
  if (!any(rule.verbs, info?.verb ?? '')) return false;
  if (rule.namespaces.length === 0 && rule.resources.length === 0 && rule.nonResourceURLs.length === 0)
    return true;
  if (info === undefined) return false;
  if (!info.isResourceRequest) return rule.nonResourceURLs.some((pattern) => pathMatches(pattern, info.path));
  if (rule.namespaces.length === 0 && rule.resources.length === 0) return false;
  if (!any(rule.namespaces, info.namespace)) return false;
  return rule.resources.length === 0 || rule.resources.some((each) => resourceMatches(each, info));
}

function pathMatches(pattern: string, path: string): boolean {
  if (pattern === '*') return true;
  return pattern.endsWith('*') ? path.startsWith(pattern.slice(0, -1)) : path === pattern;
}

function resourceMatches(
  { group, resources, resourceNames }: Rule['resources'][number],
  info: { group: string; resource: string; subresource: string; name: string },
): boolean {
  if (group !== info.group) return false;
  if (resourceNames.length > 0 && !resourceNames.includes(info.name)) return false;
  if (resources.length === 0) return true;
  const { resource, subresource } = info;
  const whole = subresource === '' ? resource : `${resource}/${subresource}`;
  const wide = subresource === '' ? [] : [`${resource}/*`, `*/${subresource}`];
  return ['*', whole, ...wide].some((pattern) => resources.includes(pattern));
}
