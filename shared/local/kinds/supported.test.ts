import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { unsupportedFields } from './supported.ts';

const container = { image: 'arc/transfer-worker:v1', command: ['transfer-worker'] };
const fieldsOf = (spec: object) => unsupportedFields(spec, 'spec').map((cause) => cause.field);
const withTemplate = (template: object) =>
  fieldsOf({ entrypoint: 't', templates: [{ name: 't', ...template }] });

describe('unsupportedFields', () => {
  it.each(['workflow-templates/oci-image', 'workflow-templates/file', 'components/quarantine/template'])(
    'passes knative/%s.yaml',
    async (name) => {
      const file = new URL(`../../../knative/${name}.yaml`, import.meta.url);
      expect(fieldsOf(parse(await readFile(file, 'utf8')).spec)).toEqual([]);
    },
  );

  it('passes a one-pod template', () => {
    expect(
      fieldsOf({
        entrypoint: 't',
        arguments: { parameters: [{ name: 'p' }] },
        volumes: [
          { name: 'config', secret: { secretName: '{{workflow.parameters.p}}', optional: true } },
          { name: 'work', emptyDir: {} },
        ],
        templates: [
          {
            name: 't',
            container: {
              ...container,
              volumeMounts: [{ name: 'config', mountPath: '/etc/arc/config', readOnly: true }],
            },
            outputs: {
              parameters: [
                { name: 'result', globalName: 'result', valueFrom: { path: '/tmp/arc/r', default: '' } },
              ],
            },
            retryStrategy: { limit: 2 },
          },
        ],
      }),
    ).toEqual([]);
  });

  it('passes a containerSet and a reference', () => {
    expect(
      withTemplate({ containerSet: { containers: [{ ...container, name: 'a', dependencies: [] }] } }),
    ).toEqual([]);
    expect(fieldsOf({ workflowTemplateRef: { name: 'x', clusterScope: true }, shutdown: 'Stop' })).toEqual(
      [],
    );
  });

  it.each<[object, string]>([
    [{ steps: [] }, 'spec.templates[0].steps'],
    [{ dag: {} }, 'spec.templates[0].dag'],
    [{ script: {} }, 'spec.templates[0].script'],
    [{ resource: {} }, 'spec.templates[0].resource'],
    [{ suspend: {} }, 'spec.templates[0].suspend'],
    [{}, 'spec.templates[0]'],
    [{ container, sidecars: [] }, 'spec.templates[0].sidecars'],
    [{ container, inputs: { artifacts: [] } }, 'spec.templates[0].inputs.artifacts'],
    [{ container: { ...container, envFrom: [] } }, 'spec.templates[0].container.envFrom'],
    [
      { container: { ...container, env: [{ name: 'a', valueFrom: {} }] } },
      'spec.templates[0].container.env[0].valueFrom',
    ],
    [
      { container: { ...container, volumeMounts: [{ name: 'x', mountPath: '/var/lib' }] } },
      'spec.templates[0].container.volumeMounts[0].mountPath',
    ],
    [{ container: { ...container, args: ['{{=1}}'] } }, 'spec.templates[0].container.args[0]'],
    [{ container, volumes: [{ name: 'x', hostPath: {} }] }, 'spec.templates[0].volumes[0].hostPath'],
    [{ container, retryStrategy: { expression: 'true' } }, 'spec.templates[0].retryStrategy.expression'],
    [
      { container, outputs: { parameters: [{ name: 'x', valueFrom: { expression: '1' } }] } },
      'spec.templates[0].outputs.parameters[0].valueFrom.expression',
    ],
  ])('names what it refuses: %j', (template, field) => expect(withTemplate(template)).toEqual([field]));

  it('names what it refuses of the spec', () => {
    expect(fieldsOf({ onExit: 'x', volumeClaimTemplates: [], hooks: {} })).toEqual([
      'spec.onExit',
      'spec.volumeClaimTemplates',
      'spec.hooks',
    ]);
  });
});
