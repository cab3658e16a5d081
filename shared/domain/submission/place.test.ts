import { expect, it } from 'vitest';
import { conflictSelectors } from '../identity/artifact.ts';
import { labels } from '../kinds/well-known.ts';
import { image, made, order } from '../testing/plan-objects.ts';
import { startSelectors } from './place.ts';

it('lets the first version of an artifact look only for other writers to its target, and every later one for all conflicting', () => {
  const workflow = made(order([image('a')]));
  const ofTarget = [`${labels.target}=${workflow.metadata.labels?.[labels.target]}`];
  const first = { ...workflow, spec: { ...workflow.spec, revision: 1 } };
  expect(startSelectors(first)).toEqual(ofTarget);
  for (const other of [
    { ...first, spec: { ...first.spec, revision: 2 } },
    { ...first, status: { workflowRef: { kind: 'Workflow' as const, name: 'w', attempt: 1 } } },
    { ...first, status: { phase: 'Cancelled' as const } },
  ])
    expect(startSelectors(other)).toEqual(conflictSelectors(other));
});
