import * as z from 'zod';
import type { Attributes, Authorizer, KindDefinition, KubeObject, User } from '#shared/kubernetes/apiserver';
import type { RulesOf } from '../rbac/authorizer.ts';

const text = z.string().nullish();
const resourceAttributes = z.looseObject({
  namespace: text,
  verb: text,
  group: text,
  version: text,
  resource: text,
  subresource: text,
  name: text,
});
const nonResourceAttributes = z.object({ path: text, verb: text });
const asked = {
  resourceAttributes: resourceAttributes.nullish().describe('An action on objects.'),
  nonResourceAttributes: nonResourceAttributes.nullish().describe('An action on a path.'),
};
const reviewSpec = z.object({
  ...asked,
  user: text,
  groups: z.array(z.string()).nullish(),
  uid: text,
  extra: z.record(z.string(), z.array(z.string())).nullish(),
});
type ReviewSpec = z.infer<typeof reviewSpec>;

const status = z.looseObject({}).meta({ 'x-kubernetes-preserve-unknown-fields': true }).optional();
const authorization = { group: 'authorization.k8s.io', version: 'v1', status: false, columns: [] } as const;

/**
 * The kinds by which clients ask what a user may do (`kubectl auth can-i`, `--list`, `whoami`; SubjectAccessReview for
 * admission rules). They answer a create and store nothing. `rulesOf` is what SelfSubjectRulesReview lists;
 * without it that answer is marked incomplete.
 */
export function accessReviewKinds(authorize: Authorizer, rulesOf?: RulesOf): KindDefinition[] {
  const decide = async (object: KubeObject, user: User): Promise<KubeObject> => {
    const { allowed, reason } = await authorize(user, attributesOf((object.spec ?? {}) as ReviewSpec));
    return { ...object, status: { allowed, ...(reason !== undefined && { reason }) } };
  };
  return [
    {
      ...authorization,
      ...names('SelfSubjectAccessReview', 'Cluster'),
      description: 'SelfSubjectAccessReview asks whether the one who asks may do something.',
      schema: z.object({ spec: z.object(asked), status }),
      virtual: decide,
    },
    {
      ...authorization,
      ...names('SubjectAccessReview', 'Cluster'),
      description: 'SubjectAccessReview asks whether a user may do something.',
      schema: z.object({ spec: reviewSpec, status }),
      virtual: (object) => decide(object, subjectOf((object.spec ?? {}) as ReviewSpec)),
    },
    {
      ...authorization,
      ...names('SelfSubjectRulesReview', 'Cluster'),
      description: 'SelfSubjectRulesReview lists what the one who asks may do in a namespace.',
      schema: z.object({ spec: z.object({ namespace: text }), status }),
      virtual: (object, user) => ({ ...object, status: rulesStatus(object, user, rulesOf) }),
    },
    {
      group: 'authentication.k8s.io',
      version: 'v1',
      ...names('SelfSubjectReview', 'Cluster'),
      status: false,
      columns: [],
      description: 'SelfSubjectReview tells the one who asks who they are.',
      schema: z.object({ status }),
      virtual: (object, user) => ({ ...object, status: { userInfo: userInfo(user) } }),
    },
  ];
}

function names(kind: string, scope: KindDefinition['scope']) {
  return { kind, plural: `${kind.toLowerCase()}s`, singular: kind.toLowerCase(), scope };
}

function attributesOf({ resourceAttributes: of, nonResourceAttributes: path }: ReviewSpec): Attributes {
  if (!of) return { isResourceRequest: false, verb: path?.verb ?? '', path: path?.path ?? '' };
  return {
    isResourceRequest: true,
    verb: of.verb ?? '',
    group: of.group ?? '',
    version: of.version ?? '*',
    resource: of.resource ?? '',
    subresource: of.subresource ?? '',
    namespace: of.namespace ?? '',
    name: of.name ?? '',
  };
}

function subjectOf(spec: ReviewSpec): User {
  return { name: spec.user ?? '', groups: spec.groups ?? [], ...(spec.uid && { uid: spec.uid }) };
}

function rulesStatus(object: KubeObject, user: User, rulesOf: RulesOf | undefined): object {
  const namespace = (object.spec as { namespace?: string | null } | undefined)?.namespace ?? '';
  const rules = rulesOf?.(user, namespace) ?? [];
  return {
    resourceRules: rules
      .filter((rule) => rule.resources.length > 0)
      .map(({ verbs, apiGroups, resources, resourceNames }) => ({
        verbs,
        apiGroups,
        resources,
        resourceNames,
      })),
    nonResourceRules: rules
      .filter((rule) => rule.nonResourceURLs.length > 0)
      .map(({ verbs, nonResourceURLs }) => ({ verbs, nonResourceURLs })),
    incomplete: rulesOf === undefined,
  };
}

function userInfo(user: User): object {
  const groups = user.groups.includes('system:authenticated')
    ? user.groups
    : [...user.groups, 'system:authenticated'];
  return {
    username: user.name,
    groups,
    ...(user.uid !== undefined && { uid: user.uid }),
    ...(user.extra && { extra: user.extra }),
  };
}
