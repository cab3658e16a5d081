import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { renderConfiguration, workflowFor } from '#shared/domain';
import { loadManifests } from '#shared/local';
import { eventually } from '../../shared/base/testing/eventually.ts';
import { unreleased } from '../../shared/domain/submission/workflow.ts';
import { artifactWorkflow, endpoint } from '../../shared/domain/testing/objects.ts';
import { argoDefinitions } from '../fixtures/cluster/argo-definitions.ts';
import { type ControlPlane, hostAddress, startControlPlane } from '../fixtures/cluster/control-plane.ts';
import type { Body, HttpsClient } from '../fixtures/http/https-client.ts';
import { accountRights } from './rights.ts';

const assets = process.env.KUBEBUILDER_ASSETS;
const host = hostAddress();
const rbac = '/apis/rbac.authorization.k8s.io/v1';
const workflowsOf = (namespace: string) => `/apis/argoproj.io/v1alpha1/namespaces/${namespace}/workflows`;
const secretsOf = (namespace: string) => `/api/v1/namespaces/${namespace}/secrets`;

/** Becomes a token of that account, if the control plane makes it. */
const tokenOf = (account: string) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'stolen', annotations: { 'kubernetes.io/service-account.name': account } },
  type: 'kubernetes.io/service-account-token',
});
const opaque = (name: string) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name },
  type: 'Opaque',
  data: { key: 'eA==' },
});

/** What the accounts of knative/base really make, in the namespace `team`. */
const owner = artifactWorkflow('order-0123456789abcdef', {});
owner.metadata = { ...owner.metadata, namespace: 'team' };
const rendering = renderConfiguration(owner, {
  source: endpoint('source'),
  destination: endpoint('destination'),
});
if (!('secret' in rendering)) throw new Error(JSON.stringify(rendering));
const rendered = rendering.secret;
const workflow = unreleased(workflowFor(owner, 1));
const schedule = workflowFor({ ...owner, spec: { ...owner.spec, cron: { schedules: ['@daily'] } } }, 1);

/** Tries what an account that was taken over would try, with the rights of knative/base and knative/tenant and components/admission-policies. */
describe.skipIf(!assets || !host)('an account of ARC', () => {
  let plane: ControlPlane;
  let admin: HttpsClient;
  beforeAll(async () => {
    plane = await startControlPlane(assets ?? '', host ?? '');
    admin = plane.admin();
    for (const name of ['arc-system', 'team', 'other']) await plane.kubectl(['create', 'namespace', name]);
    const base = (await loadManifests('knative/base')).filter(
      ({ apiVersion, kind }) =>
        kind === 'ServiceAccount' || apiVersion.startsWith('rbac.authorization.k8s.io/'),
    );
    await plane.kubectl(['apply', '-f', '-'], {
      input: base.map((one) => JSON.stringify(one)).join('\n---\n'),
    });
    await plane.kubectl(['apply', '-n', 'team', '-k', 'knative/tenant']);
    await plane.kubectl(['apply', '-f', '-'], { input: argoDefinitions });
    const policies = ['rendered-secrets', 'own-secrets', 'workflows'];
    const files = policies.flatMap((name) => ['-f', `knative/components/admission-policies/${name}.yaml`]);
    await plane.kubectl(['apply', ...files]);
    for (const namespace of ['team', 'other', 'arc-system'])
      await admin.must('POST', secretsOf(namespace), opaque('login'));
    await eventually('the kinds of Argo to be served', 30_000, async () => {
      await admin.must('GET', workflowsOf('team'));
    });
    const foreign = { ...workflow, metadata: { name: 'foreign' } };
    await admin.must('POST', workflowsOf('team'), foreign);
    // Policies come into force some time after they are stored.
    await eventually('the policies to be in force', 30_000, async () => {
      const { code } = await as('render-secret', 'POST', secretsOf('team'), tokenOf('arc-workflow'), true);
      expect(code).toBe(422);
    });
  }, 180_000);
  afterAll(async () => {
    await plane?.stop();
  }, 60_000);

  /** One request as an account of arc-system; dry unless it must be there for the next. */
  async function as(account: string, method: string, path: string, body?: object, dry = false) {
    const groups = ['system:serviceaccounts', 'system:serviceaccounts:arc-system', 'system:authenticated'];
    const headers = {
      'impersonate-user': `system:serviceaccount:arc-system:${account}`,
      // Node sends a header twice for a list of values; its type knows single ones only here.
      'impersonate-group': groups as unknown as string,
    };
    const reply = await admin.send(method, dry ? `${path}?dryRun=All` : path, body, { headers });
    return { code: reply.code, message: (reply.code < 300 ? '' : reply.body().message) ?? '' };
  }

  it('can do its work under the policies', async () => {
    const steps: [string, string, string, object?][] = [
      ['render-secret', 'GET', `${secretsOf('team')}/login`],
      ['render-secret', 'POST', secretsOf('team'), rendered],
      ['render-secret', 'DELETE', `${secretsOf('team')}/${rendered.metadata.name}`],
      ['submit-workflow', 'POST', workflowsOf('team'), workflow],
      [
        'submit-workflow',
        'PATCH',
        `${workflowsOf('team')}/${workflow.metadata.name}`,
        { spec: { suspend: null } },
      ],
      [
        ...(['submit-workflow', 'PATCH', `${workflowsOf('team')}/${workflow.metadata.name}`] as const),
        { spec: { shutdown: 'Terminate' } },
      ],
      ['submit-workflow', 'DELETE', `${workflowsOf('team')}/${workflow.metadata.name}`],
      ['submit-workflow', 'POST', workflowsOf('team').replace(/workflows$/, 'cronworkflows'), schedule],
      [
        ...(['submit-workflow', 'PATCH'] as const),
        `${workflowsOf('team').replace(/workflows$/, 'cronworkflows')}/${schedule.metadata.name}`,
        { spec: { suspend: true } },
      ],
      ['track-credentials', 'GET', `${secretsOf('team')}/login`],
      ['track-credentials', 'POST', secretsOf('arc-system'), opaque('arc-credential-key')],
      ['track-credentials', 'GET', `${secretsOf('arc-system')}/arc-credential-key`],
      ['probe-endpoint', 'GET', `${secretsOf('team')}/login`],
    ];
    for (const [account, method, path, body] of steps) {
      const { code, message } = await as(account, method, path, body);
      expect(code, `${account} ${method} ${path}: ${message}`).toBeLessThan(300);
    }
  });

  const withSpec = (spec: object): object => ({ ...workflow, spec: { ...workflow.spec, ...spec } });
  it.each<[string, string, string, object | undefined, number]>([
    // beyond its policy
    ['render-secret', 'POST', secretsOf('team'), tokenOf('arc-workflow'), 422],
    ['render-secret', 'POST', secretsOf('team'), opaque('other'), 422],
    ['render-secret', 'POST', secretsOf('team'), { ...rendered, data: { 'ca.crt': '' } }, 422],
    ['render-secret', 'POST', secretsOf('team'), { ...rendered, type: 'example.com/other' }, 422],
    ['render-secret', 'DELETE', `${secretsOf('team')}/login`, undefined, 422],
    ['track-credentials', 'POST', secretsOf('arc-system'), tokenOf('render-secret'), 422],
    ['track-credentials', 'POST', secretsOf('arc-system'), opaque('arc-ca'), 422],
    ['certificate-issuer', 'POST', secretsOf('arc-system'), tokenOf('render-secret'), 422],
    ['submit-workflow', 'POST', workflowsOf('team'), withSpec({ serviceAccountName: 'default' }), 422],
    ['submit-workflow', 'POST', workflowsOf('team'), withSpec({ templates: [{ name: 'mine' }] }), 422],
    ['submit-workflow', 'POST', workflowsOf('team'), withSpec({ podSpecPatch: '{}' }), 422],
    ['submit-workflow', 'POST', workflowsOf('team'), { ...workflow, metadata: { name: 'mine' } }, 422],
    ['submit-workflow', 'PATCH', `${workflowsOf('team')}/foreign`, { spec: { shutdown: 'Terminate' } }, 422],
    ['submit-workflow', 'DELETE', `${workflowsOf('team')}/foreign`, undefined, 422],
    // in a namespace that was not given, and in that of ARC
    ...['render-secret', 'track-credentials', 'probe-endpoint'].flatMap((account) =>
      ['other', 'arc-system', 'kube-system'].map((namespace): [string, string, string, undefined, number] => [
        ...([account, 'GET', `${secretsOf(namespace)}/login`] as const),
        undefined,
        403,
      ]),
    ),
    ['render-secret', 'POST', secretsOf('other'), rendered, 403],
    ['submit-workflow', 'POST', workflowsOf('other'), workflow, 403],
  ])('%s does not get through with %s %s (case %#)', async (account, method, path, body, expected) => {
    const given = path.includes('/other/') ? moved(body) : body;
    const { code, message } = await as(account, method, path, given, method !== 'GET');
    expect(code, message).toBe(expected);
    if (code === 422) expect(message).toContain('ValidatingAdmissionPolicy');
  });

  it('cannot change a Workflow into another one', async () => {
    await as('submit-workflow', 'POST', workflowsOf('team'), workflow);
    const path = `${workflowsOf('team')}/${workflow.metadata.name}`;
    for (const spec of [{ serviceAccountName: 'arc-workflow' }, { workflowTemplateRef: { name: 'mine' } }])
      expect(await as('submit-workflow', 'PATCH', path, { spec })).toMatchObject({ code: 422 });
  });

  it.each(Object.keys(accountRights))(
    '%s tries the ways to more rights that Kubernetes names, in vain',
    async (account) => {
      const me = { kind: 'ServiceAccount', name: account, namespace: 'arc-system' };
      const cluster = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' };
      const binding = (kind: string) => ({
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind,
        metadata: { name: 'mine' },
        roleRef: cluster,
        subjects: [me],
      });
      const pod = {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'mine' },
        spec: { serviceAccountName: 'render-secret', containers: [{ name: 'a', image: 'a' }] },
      };
      const role = { rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }] };
      const request = {
        apiVersion: 'certificates.k8s.io/v1',
        kind: 'CertificateSigningRequest',
        metadata: { name: 'mine' },
        spec: { request: '', signerName: 'kubernetes.io/kube-apiserver-client', usages: ['client auth'] },
      };
      const hook = 'validatingwebhookconfigurations';
      const hooks = { apiVersion: 'admissionregistration.k8s.io/v1', kind: 'ValidatingWebhookConfiguration' };
      const volume = { apiVersion: 'v1', kind: 'PersistentVolume', metadata: { name: 'mine' }, spec: {} };
      const tries: [string, string, object?][] = [
        ['GET', '/api/v1/secrets'],
        ['GET', secretsOf('team')],
        ['GET', `${secretsOf('arc-system')}/arc-ca-key`],
        ['POST', `${rbac}/clusterrolebindings`, binding('ClusterRoleBinding')],
        ['POST', `${rbac}/namespaces/team/rolebindings`, binding('RoleBinding')],
        ['PATCH', `${rbac}/clusterroles/arc-${account}`, role],
        ['POST', '/api/v1/namespaces/arc-system/pods', pod],
        ['POST', '/api/v1/namespaces/team/pods', pod],
        ['POST', '/api/v1/namespaces/arc-system/serviceaccounts/render-secret/token', tokenRequest],
        ['POST', '/apis/certificates.k8s.io/v1/certificatesigningrequests', request],
        ['GET', '/api/v1/nodes/any/proxy/pods'],
        ['POST', `/apis/admissionregistration.k8s.io/v1/${hook}`, { ...hooks, metadata: { name: 'mine' } }],
        ['PATCH', '/api/v1/namespaces/team', { metadata: { labels: { a: 'b' } } }],
        ['POST', '/api/v1/persistentvolumes', volume],
      ];
      for (const [method, path, body] of tries) {
        const { code, message } = await as(account, method, path, body);
        expect(code, `${method} ${path}: ${message}`).toBe(403);
      }
    },
  );
});

const tokenRequest = {
  apiVersion: 'authentication.k8s.io/v1',
  kind: 'TokenRequest',
  spec: { audiences: [] },
};

/** The same for the namespace `other`. */
function moved(body: object | undefined): object | undefined {
  const { metadata } = (body ?? {}) as Partial<Body>;
  return metadata && { ...body, metadata: { ...metadata, namespace: 'other' } };
}
