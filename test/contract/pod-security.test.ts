import { execFile } from 'node:child_process';
import { glob, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { isRecord } from '#shared/base/meta';

const assets = process.env.KUBEBUILDER_ASSETS;

/** A container somewhere in a document, with the security context of its pod. */
interface Found {
  /** `file: kind name/container`. */
  at: string;
  pod: Record<string, unknown>;
  container: Record<string, unknown>;
}

/** What has an image and a command, or says how it is secured; patches of components have neither. */
const isContainer = (value: Record<string, unknown>) =>
  typeof value.image === 'string' && Array.isArray(value.command);

async function documents(): Promise<[string, Record<string, unknown>][]> {
  const found: [string, Record<string, unknown>][] = [];
  for await (const file of glob('{knative/**/*.yaml,docs/**/*.md}')) {
    const text = await readFile(file, 'utf8');
    const texts = file.endsWith('.md')
      ? [...text.matchAll(/^```yaml\n(.*?)^```/gms)].map(([, yaml = '']) => yaml)
      : [text];
    for (const each of texts.flatMap((yaml) => parseAllDocuments(yaml)))
      if (isRecord(each.toJS())) found.push([file, each.toJS()]);
  }
  return found;
}

function containersIn(file: string, document: Record<string, unknown>): Found[] {
  const { name = '' } = isRecord(document.metadata) ? document.metadata : {};
  const found: Found[] = [];
  const walk = (value: unknown, pod: Record<string, unknown>): void => {
    if (Array.isArray(value)) for (const each of value) walk(each, pod);
    if (!isRecord(value)) return;
    if (isContainer(value))
      found.push({ at: `${file}: ${document.kind} ${name}/${value.name ?? ''}`, pod, container: value });
    // A containerSet is in the pod of its template, whose security is that of the Workflow.
    const isPod = 'templates' in value || ('containers' in value && !('templates' in pod));
    const within = isPod ? value : pod;
    for (const each of Object.values(value)) walk(each, within);
  };
  walk(document, {});
  return found;
}

/** Why a container does not fit the restricted standard of Kubernetes (pod-security-standards). */
function offences({ pod, container }: Found): string[] {
  const ofPod = isRecord(pod.securityContext) ? pod.securityContext : {};
  const own = isRecord(container.securityContext) ? container.securityContext : {};
  const context = { ...ofPod, ...own };
  const { seccompProfile, capabilities } = context;
  const types = Array.isArray(pod.volumes) ? pod.volumes.flatMap((each) => Object.keys(each)) : [];
  const allowed = [
    'name',
    'configMap',
    'csi',
    'downwardAPI',
    'emptyDir',
    'ephemeral',
    'persistentVolumeClaim',
    'projected',
    'secret',
  ];
  return [
    ...(['hostNetwork', 'hostPID', 'hostIPC'] as const).filter((field) => pod[field] === true),
    ...types.filter((type) => !allowed.includes(type)),
    ...(context.privileged === true ? ['privileged'] : []),
    ...(own.allowPrivilegeEscalation === false ? [] : ['allowPrivilegeEscalation']),
    ...(own.readOnlyRootFilesystem === true ? [] : ['readOnlyRootFilesystem']),
    ...(context.runAsNonRoot === true ? [] : ['runAsNonRoot']),
    ...(context.runAsUser === 0 ? ['runAsUser'] : []),
    ...(isRecord(seccompProfile) && seccompProfile.type === 'RuntimeDefault' ? [] : ['seccompProfile']),
    ...(isRecord(capabilities) && JSON.stringify(capabilities) === '{"drop":["ALL"]}'
      ? []
      : ['capabilities']),
  ];
}

describe('every container in knative/ and in the documents', () => {
  it('fits the restricted pod security standard, and says when its image is pulled', async () => {
    const all = (await documents()).flatMap(([file, document]) => containersIn(file, document));
    expect(all.length).toBeGreaterThan(18);
    expect(all.flatMap((each) => offences(each).map((what) => `${each.at}: ${what}`))).toEqual([]);
    const ours = all.filter(({ at }) => at.startsWith('knative/'));
    expect(
      ours.filter(({ container }) => container.imagePullPolicy !== 'IfNotPresent').map(({ at }) => at),
    ).toEqual([]);
  });

  it('is of an image that the page for private registries lists', async () => {
    const page = await readFile('docs/operate/install.md', 'utf8');
    const listed = [...page.matchAll(/^\| `([^`]+:[^`]+)` \|/gm)].map(([, image = '']) => image);
    const used = (await documents())
      .filter(([file]) => file.startsWith('knative/'))
      .flatMap(([file, document]) => containersIn(file, document))
      .map(({ container }) => String(container.image));
    expect([...new Set(used)].toSorted()).toEqual(listed.toSorted());
  });

  it.skipIf(!assets)('can be pulled with the Secret of components/pull-secret, in tenants too', async () => {
    const kubectl = path.join(assets ?? '', 'kubectl');
    const run = promisify(execFile);
    for (const base of ['overlays/production', 'tenant']) {
      const text = `resources: [../knative/${base}]\ncomponents: [../knative/components/pull-secret]\n`;
      const folder = await mkdtemp('operate-');
      try {
        await writeFile(path.join(folder, 'kustomization.yaml'), text);
        const { stdout } = await run(kubectl, ['kustomize', folder], { maxBuffer: 2 ** 24 });
        const accounts = parseAllDocuments(stdout)
          .map((each) => each.toJS())
          .filter(({ kind }) => kind === 'ServiceAccount');
        expect(accounts.length).toBeGreaterThan(0);
        for (const account of accounts)
          expect(account, account.metadata.name).toMatchObject({ imagePullSecrets: [{ name: 'arc-pull' }] });
      } finally {
        await rm(folder, { recursive: true });
      }
    }
  });
});
