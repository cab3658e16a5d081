import { describe, expect, it } from 'vitest';
import { aWidget, sampleWidget } from '../testing/sample-widget.ts';
import { unchangedSinceLastApplied, withLastApplied } from './last-applied.ts';
import { mergeTypeOf } from './typed/merge-type.ts';

const note = 'kubectl.kubernetes.io/last-applied-configuration';
const type = mergeTypeOf(sampleWidget);
const noted = (content: unknown, spec: object) => aWidget(spec, { annotations: { [note]: content } });

describe('keptByLastApplied', () => {
  it('finds the fields that are as they were applied', () => {
    const kept = unchangedSinceLastApplied(
      type,
      noted(JSON.stringify(aWidget({ size: 1, color: 'a' })), { size: 1, color: 'b' }),
    );
    expect([
      kept?.(['f:spec', 'f:size']),
      kept?.(['f:spec', 'f:color']),
      kept?.(['f:spec', 'f:flag']),
    ]).toEqual([true, false, false]);
  });

  it.each(['', '{', '[]', '{"apiVersion":"other/v1"}'])('ignores the annotation %j', (content) => {
    expect(unchangedSinceLastApplied(type, noted(content, {}))).toBeUndefined();
  });
});

describe('withLastApplied', () => {
  it('updates an existing annotation', () => {
    const config = aWidget({ size: 2, color: 'a' }, { annotations: { [note]: 'old', mine: 'x' } });
    const { annotations } = withLastApplied(noted('{}', {}), config).metadata;
    expect(annotations?.[note]).toBe(
      '{"apiVersion":"test.example.com/v1","kind":"Widget","metadata":{"annotations":{"mine":"x"},"name":"one","namespace":"ns"},"spec":{"color":"a","size":2}}\n',
    );
    const bare = aWidget({});
    expect(withLastApplied(bare, config)).toBe(bare);
  });
});
