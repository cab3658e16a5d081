import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { isRecord } from '#shared/base/meta';
import { jsonToYaml } from '#shared/base/yaml';
import { conduitNamespace } from '../standalone/identities.ts';
import { packFiles } from './archive.ts';
import type { ReleaseContext } from './context.ts';
import { etcdImage, type Overlay, objectsOf, overlays, type Rendered, renderFolder } from './manifests.ts';

export const chartName = 'artifact-conduit';
const source = path.join(import.meta.dirname, 'chart');

/** Placeholders in rendered objects for values of the chart. */
const placeholders = { image: 'ARC_IMAGE', etcdImage: 'ARC_ETCD_IMAGE', storage: 'ARC_STORAGE' };

/**
 * Writes the Helm chart, generated from the rendered overlays: an object that both overlays share is included once, a different one
 * conditionally. `image` is the default of the value.
 * @returns the path of the package
 */
export async function releaseChart(context: ReleaseContext, image: string): Promise<string> {
  const { folder, version, time, signal } = context;
  const text = async (name: string) => await readFile(path.join(source, name), 'utf8');
  const etcd = await etcdImage();
  const files = new Map([
    ['Chart.yaml', await chartYaml(version)],
    ['values.yaml', (await text('values.yaml')).replace('IMAGE', image).replace('ETCD', etcd)],
    ['values.schema.json', await text('values.schema.json')],
    ['README.md', (await text('README.md')).replace('VERSION', version)],
    ['templates/NOTES.txt', await text('NOTES.txt')],
    ['templates/namespace.yaml', namespaceTemplate],
  ]);
  const rendered = {} as Record<Overlay, Map<string, string>>;
  for (const overlay of overlays) {
    const yaml = await renderFolder(`overlays/${overlay}`, placeholders.image, signal);
    rendered[overlay] = templatesOf(objectsOf(yaml, overlay), etcd);
  }
  for (const [name, template] of mergeOverlays(rendered)) files.set(`templates/${name}`, template);
  const tenant = objectsOf(await renderFolder('tenant', placeholders.image, signal), 'tenant');
  files.set('templates/tenants.yaml', tenantTemplate(tenant));
  const file = path.join(folder, `${chartName}-${version}.tgz`);
  const entries = [...files].map(([name, content]) => ({
    name: `${chartName}/${name}`,
    content: Buffer.from(content),
  }));
  await writeFile(file, await packFiles(entries, time));
  return file;
}

async function chartYaml(version: string): Promise<string> {
  const { description }: { description: string } = JSON.parse(await readFile('package.json', 'utf8'));
  return yamlOf({
    apiVersion: 'v2',
    name: chartName,
    description,
    type: 'application',
    version,
    appVersion: version,
    // required by ValidatingAdmissionPolicies
    kubeVersion: '>=1.30.0-0',
  });
}

/** Objects refer to this namespace, in the ServiceAccounts of bindings and the host names of certificates. */
const namespaceTemplate = `{{- if ne .Release.Namespace "${conduitNamespace}" }}
{{- fail "ARC runs in the namespace ${conduitNamespace}: install it with --namespace ${conduitNamespace}" }}
{{- end }}
`;

/** Returns the templates by file name. The user creates the Namespace: Helm cannot install into a namespace that its chart creates. */
function templatesOf(objects: readonly Rendered[], etcd: string): Map<string, string> {
  return new Map(
    objects
      .filter(({ kind }) => kind !== 'Namespace')
      .map((object) => [fileNameOf(object), templateOf(withValues(object, etcd))]),
  );
}

function fileNameOf({ apiVersion, kind, metadata: { namespace, name } }: Rendered): string {
  const group = apiVersion.includes('.knative.dev/') ? 'knative-' : '';
  const place = namespace === undefined || namespace === conduitNamespace ? '' : `${namespace}-`;
  return `${group}${kind.toLowerCase()}/${place}${name.replaceAll(/[^a-z0-9.-]/gi, '-')}.yaml`;
}

function withValues(object: Rendered, etcd: string): object {
  const { imagePullSecrets: _, ...copy }: Record<string, unknown> = JSON.parse(
    JSON.stringify(object).replaceAll(JSON.stringify(etcd), JSON.stringify(placeholders.etcdImage)),
  );
  if (object.kind === 'StatefulSet') insertStoragePlaceholder(copy);
  return copy;
}

function insertStoragePlaceholder({ spec }: Record<string, unknown>): void {
  const claims = isRecord(spec) && Array.isArray(spec.volumeClaimTemplates) ? spec.volumeClaimTemplates : [];
  for (const claim of claims) {
    const { requests } = claim.spec.resources;
    requests.storage = `${placeholders.storage}_${requests.storage}`;
  }
}

/** Returns YAML with the values inserted. Braces of Argo and others are escaped for Helm. */
function templateOf(object: object): string {
  const { kind, metadata } = object as Rendered;
  const yaml = yamlOf(object)
    .replaceAll('{{', '{{ "{{" }}')
    .replaceAll(`: ${placeholders.etcdImage}\n`, ': {{ .Values.etcd.image | quote }}\n')
    .replaceAll(`: ${placeholders.image}\n`, ': {{ .Values.image | quote }}\n')
    .replaceAll(
      new RegExp(`^( +)resources:\\n( +)requests:\\n( +)storage: ${placeholders.storage}_(\\w+)\\n`, 'gm'),
      (_, claim: string, requests: string, storage: string, size: string) => `${claim}resources:
${requests}requests:
${storage}storage: {{ .Values.etcd.storage | default "${size}" | quote }}
{{- if not (kindIs "invalid" .Values.etcd.storageClassName) }}
${claim}storageClassName: {{ .Values.etcd.storageClassName | quote }}
{{- end }}
`,
    );
  const unreplaced = Object.values(placeholders).find((each) => yaml.includes(each));
  if (unreplaced !== undefined)
    throw new Error(`${kind} ${metadata.name} has ${unreplaced} where the chart expects none`);
  if (kind === 'ServiceAccount') return `${yaml}${block('imagePullSecrets', '.Values.imagePullSecrets')}`;
  if (kind === 'ConfigMap' && metadata.name === 'arc-settings')
    return `${yaml}${block('data', '.Values.settings')}`;
  return yaml;
}

/** A field that is rendered if the value is not empty. */
function block(field: string, value: string): string {
  return `{{- with ${value} }}\n${field}:\n{{ toYaml . | indent 2 }}\n{{- end }}\n`;
}

/** Returns the templates of both overlays; a template that differs is rendered for its overlay. */
function mergeOverlays({ production, dev }: Record<Overlay, Map<string, string>>): Map<string, string> {
  const all = new Map<string, string>();
  for (const name of new Set([...production.keys(), ...dev.keys()].toSorted())) {
    const [one, other] = [production.get(name), dev.get(name)];
    if (one === other) all.set(name, one ?? '');
    else if (one === undefined) all.set(name, `{{- if eq .Values.overlay "dev" }}\n${other}{{- end }}\n`);
    else if (other === undefined)
      all.set(name, `{{- if eq .Values.overlay "production" }}\n${one}{{- end }}\n`);
    else all.set(name, `{{- if eq .Values.overlay "production" }}\n${one}{{- else }}\n${other}{{- end }}\n`);
  }
  return all;
}

/** knative/tenant for each tenant namespace. */
function tenantTemplate(objects: readonly Rendered[]): string {
  const documents = objects.map((object) => {
    const { imagePullSecrets: _, subjects, ...copy }: Record<string, unknown> = { ...object };
    const placed = {
      ...copy,
      metadata: { ...object.metadata, namespace: 'ARC_TENANT' },
      // Kustomize leaves the namespace of a binding's account to kubectl's -n.
      ...(Array.isArray(subjects) && {
        subjects: subjects.map((subject: object) => ({ namespace: 'ARC_TENANT', ...subject })),
      }),
    };
    const yaml = yamlOf(placed).replaceAll('{{', '{{ "{{" }}').replaceAll(': ARC_TENANT\n', ': {{ . }}\n');
    const secrets =
      object.kind === 'ServiceAccount' ? block('imagePullSecrets', '$.Values.imagePullSecrets') : '';
    return `---\n${yaml}${secrets}`;
  });
  return `{{- range .Values.tenants }}\n${documents.join('')}{{- end }}\n`;
}

function yamlOf(value: object): string {
  return [...jsonToYaml(value)].join('');
}
