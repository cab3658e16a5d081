import { describe, expect, it } from 'vitest';
import type { ArtifactType } from '../kinds/artifact-type.ts';
import { artifactType } from '../testing/objects.ts';
import { image, inputs, order } from '../testing/plan-objects.ts';
import { planOrder } from './plan.ts';
import { templateKey, templateKeyOf, templatesUsed } from './templates.ts';

const own = (name: string, clusterScope = false): ArtifactType => ({
  ...artifactType(name, {
    workflowTemplateRef: { name: `${name}-steps`, ...(clusterScope && { clusterScope }) },
  }),
  kind: 'ArtifactType',
  metadata: { name, namespace: 'team' },
});

describe('the templates of an Order', () => {
  it('are those of the types it uses, each once, the namespaced type before that of the cluster', () => {
    const artifacts = [image('a'), image('b'), { type: 'own' }, { type: 'wide' }, { type: 'unknown' }];
    const types = [
      own('own'),
      own('wide', true),
      artifactType('own'),
      artifactType(),
      artifactType('unused'),
    ];
    expect(templatesUsed(order(artifacts), types)).toEqual([
      { name: 'arc-oci-image', clusterScope: true },
      { name: 'own-steps' },
      { name: 'wide-steps', clusterScope: true },
    ]);
  });

  it('hold only the artifacts whose template is missing', () => {
    const missing = { name: 'own-steps' };
    const given = inputs({ types: [artifactType(), own('own')], missingTemplates: [missing] });
    const plan = planOrder(order([image('a'), { type: 'own' }]), given);
    expect(plan.artifacts.map(({ state }) => state)).toEqual(['ready', 'held']);
    expect(plan.artifacts[1]).toMatchObject({
      hold: {
        reason: 'TemplateMissing',
        message: 'WorkflowTemplate "own-steps" of artifact type "own" not found: apply it, or install Argo',
      },
    });
  });

  it('have the same key as the types that refer to them', () => {
    expect(templateKeyOf(own('own'))).toBe(templateKey('team', 'own-steps'));
    expect(templateKeyOf(own('wide', true))).toBe(templateKey(undefined, 'wide-steps'));
    expect(templateKeyOf(artifactType())).toBe(templateKey(undefined, 'arc-oci-image'));
  });
});
