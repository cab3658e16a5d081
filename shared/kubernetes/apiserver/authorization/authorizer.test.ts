import { describe, expect, it } from 'vitest';
import type { User } from '../authentication/user/user.ts';
import type { Attributes } from './authorizer.ts';
import { impersonate } from './authorizer.ts';

/** Impersonates with these headers; `held` are the rights, as `resource[/subresource] name`. */
async function as(headers: Record<string, string>, held: string[], groups: string[] = []) {
  const asked: string[] = [];
  const authorize = async (_user: User, attributes: Attributes) => {
    if (!attributes.isResourceRequest || attributes.verb !== 'impersonate') return { allowed: false };
    const { group, resource, subresource, namespace, name } = attributes;
    const what = `${namespace && `${namespace}/`}${resource}${subresource && `/${subresource}`} ${name}`;
    asked.push(group === '' ? what : `${group} ${what}`);
    return { allowed: held.some((right) => asked.at(-1)?.endsWith(right)) };
  };
  const request = new Request('https://x.invalid/', { headers });
  return { user: await impersonate(authorize, { name: 'jo', groups }, request, undefined), asked };
}

describe('impersonate', () => {
  it('changes nothing without its headers', async () => {
    expect(await as({}, [])).toEqual({ user: { name: 'jo', groups: [] }, asked: [] });
  });

  it('requires the right to every name given', async () => {
    const headers = {
      'Impersonate-User': 'ann',
      'Impersonate-Group': 'dev',
      'Impersonate-Uid': '7',
      'Impersonate-Extra-Acme.com%2Fteam': 'red',
    };
    const rights = ['users ann', 'groups dev', 'uids 7', 'userextras/acme.com/team red'];
    const { user, asked } = await as(headers, rights);
    expect(user).toEqual({
      name: 'ann',
      groups: ['dev', 'system:authenticated'],
      uid: '7',
      extra: { 'acme.com/team': ['red'] },
    });
    expect(asked).toEqual([
      'users ann',
      'groups dev',
      'authentication.k8s.io uids 7',
      'authentication.k8s.io userextras/acme.com/team red',
    ]);
    for (const missing of rights) {
      const rest = rights.filter((right) => right !== missing);
      await expect(as(headers, rest)).rejects.toMatchObject({ code: 'Forbidden' });
    }
  });

  it('adds the groups of a ServiceAccount', async () => {
    const headers = { 'Impersonate-User': 'system:serviceaccount:ns:robot' };
    const { user } = await as(headers, ['ns/serviceaccounts robot']);
    expect(user.groups).toEqual([
      'system:serviceaccounts',
      'system:serviceaccounts:ns',
      'system:authenticated',
    ]);
  });

  it('does not put system:anonymous into system:authenticated', async () => {
    const { user } = await as({ 'Impersonate-User': 'system:anonymous' }, ['users system:anonymous']);
    expect(user.groups).toEqual(['system:unauthenticated']);
  });

  it('names both users in a refusal', async () => {
    await expect(as({ 'Impersonate-User': 'ann' }, [])).rejects.toThrow(
      'users "ann" is forbidden: User "jo" cannot impersonate resource "users" in API group "" at the cluster scope',
    );
  });

  it('refuses headers without a user', async () => {
    await expect(as({ 'Impersonate-Group': 'system:masters' }, [], ['system:masters'])).rejects.toMatchObject(
      {
        code: 'BadRequest',
      },
    );
  });
});
