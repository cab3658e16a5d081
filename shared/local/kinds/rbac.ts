import * as z from 'zod';
import { ArcError, type Cause } from '#shared/base/errors';
import type { KindDefinition, KubeObject } from '#shared/kubernetes/apiserver';
import { binding, readAs, role } from '../rbac/rules.ts';

const rbac = { group: 'rbac.authorization.k8s.io', version: 'v1', status: false } as const;
const rules = z
  .array(z.looseObject({ verbs: z.array(z.string()) }))
  .nullish()
  .describe('What the role allows.');
const roleRef = z.object({
  apiGroup: z.string().default(rbac.group),
  kind: z.enum(['Role', 'ClusterRole']),
  name: z.string(),
});
const subjects = z
  .array(
    z.object({
      kind: z.enum(['User', 'Group', 'ServiceAccount']),
      name: z.string(),
      apiGroup: z.string().optional(),
      namespace: z.string().optional(),
    }),
  )
  .nullish()
  .describe('Who gets the role.');

function roleKind(kind: 'Role' | 'ClusterRole', scope: KindDefinition['scope']): KindDefinition {
  return {
    ...rbac,
    ...namesOf(kind),
    scope,
    description: `${kind} is a set of rights.`,
    schema: z.object({ rules, aggregationRule: z.looseObject({}).nullish() }),
    columns: [],
    hooks: { validate: (object) => causesOf(object, role, 'rules') },
  };
}

function bindingKind(
  kind: 'RoleBinding' | 'ClusterRoleBinding',
  scope: KindDefinition['scope'],
): KindDefinition {
  return {
    ...rbac,
    ...namesOf(kind),
    scope,
    description: `${kind} gives the rights of a role to users, groups and ServiceAccounts.`,
    schema: z.object({ subjects, roleRef }),
    columns: [
      {
        name: 'Role',
        type: 'string',
        description: 'The role that is given.',
        value: ({ roleRef: ref }) => {
          const { kind: of, name } = ref as z.infer<typeof roleRef>;
          return `${of}/${name}`;
        },
      },
    ],
    hooks: {
      validate: (object, old) => [...causesOf(object, binding, 'subjects'), ...roleRefCauses(object, old)],
    },
  };
}

function namesOf(kind: string): Pick<KindDefinition, 'kind' | 'plural' | 'singular'> {
  return { kind, plural: `${kind.toLowerCase()}s`, singular: kind.toLowerCase() };
}

function causesOf(object: KubeObject, schema: z.ZodType, field: string): Cause[] {
  try {
    readAs(schema, object as Parameters<typeof readAs>[1]);
    return [];
  } catch (caught) {
    return [{ reason: 'FieldValueInvalid', message: ArcError.from(caught).message, field }];
  }
}

/** As in Kubernetes: another role is another grant, so a binding is made anew for it. */
function roleRefCauses(object: KubeObject, old: KubeObject | undefined): Cause[] {
  if (old === undefined || JSON.stringify(old.roleRef) === JSON.stringify(object.roleRef)) return [];
  return [{ reason: 'FieldValueInvalid', message: 'Invalid value: cannot change roleRef', field: 'roleRef' }];
}

/** Roles and bindings that users make, beside those of ARC's manifests, which are not stored. */
export const rbacKinds: readonly KindDefinition[] = [
  roleKind('Role', 'Namespaced'),
  roleKind('ClusterRole', 'Cluster'),
  bindingKind('RoleBinding', 'Namespaced'),
  bindingKind('ClusterRoleBinding', 'Cluster'),
];
