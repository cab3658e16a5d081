import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLogger } from '#shared/base/telemetry';
import { orders } from '#shared/domain';
import { createKubeClient, programAccess } from '#shared/kubernetes/client';
import { type Standalone, startStandalone } from './standalone.ts';

let folder: string;
let standalone: Standalone;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'grants-'));
  const log = createLogger({ name: 'test', level: 'silent' });
  standalone = await startStandalone({ folder, port: 0, programs: {}, log });
});
afterAll(async () => {
  await standalone.close();
  await rm(folder, { recursive: true });
});

/** The API as `arcctl --as tom` reaches it. */
async function asTom() {
  const impersonation = { user: 'tom', groups: [] };
  const access = await programAccess({}, { kubeconfig: standalone.kubeconfig, impersonation });
  return createKubeClient({ ...access, userAgent: 'test' });
}

const rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings';
const binding = (name: string, role: string, kind = 'ClusterRole') => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'RoleBinding',
  metadata: { name },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind, name: role },
  subjects: [{ kind: 'User', name: 'tom', apiGroup: 'rbac.authorization.k8s.io' }],
});

describe('roles and bindings of users', () => {
  it('count for the next requests, in their namespace, until they are deleted', async () => {
    const tom = await asTom();
    const listed = (namespace: string) => () =>
      tom.list(orders, { namespace }).then(
        () => 'allowed',
        (caught: { code?: string }) => caught.code,
      );
    expect(await listed('default')()).toBe('Forbidden');
    await standalone.transport.send({ method: 'POST', path: rbac, body: binding('tom', 'arc-user') });
    await expect.poll(listed('default'), { timeout: 5_000 }).toBe('allowed');
    expect(await listed('other')()).toBe('Forbidden');
    await standalone.transport.send({ method: 'DELETE', path: `${rbac}/tom` });
    await expect.poll(listed('default'), { timeout: 5_000 }).toBe('Forbidden');
  });

  it('are refused where they are malformed', async () => {
    const send = standalone.transport.send({ method: 'POST', path: rbac, body: binding('bad', 'x', 'User') });
    await expect(send).rejects.toMatchObject({
      code: 'Invalid',
      message: expect.stringContaining('roleRef'),
    });
  });
});
