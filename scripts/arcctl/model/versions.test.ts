import { expect, it } from 'vitest';
import { artifactWorkflow, order } from '../../../shared/domain/testing/objects.ts';
import { inputsOf, withVersionRestored } from './versions.ts';

const version = (spec: object, more: object = {}) => {
  const made = artifactWorkflow('earlier');
  return { ...made, spec: { ...made.spec, artifact: { spec }, ...more } } as typeof made;
};

it('sets one artifact back to an earlier version, and leaves the others', () => {
  const current = order('first', ['app:2', 'tool:1']);
  const [app, tool] = current.spec.artifacts ?? [];
  const artifacts = withVersionRestored(current, 0, version({ image: 'app:1' }), []);
  expect(artifacts).toEqual([{ ...app, spec: { image: 'app:1' } }, tool]);
});

it('keeps what the type sets out of the Order, and names an Endpoint that was another one', () => {
  const current = order('first', ['app:2']);
  const earlier = version({ image: 'app:1', policy: '{}' }, { srcRef: { name: 'elsewhere' } });
  const [artifact] = withVersionRestored(current, 0, earlier, [{ name: 'specPolicy', value: '{}' }]);
  expect(artifact).toMatchObject({ spec: { image: 'app:1' }, srcRef: { name: 'elsewhere' } });
  expect(artifact?.spec).not.toHaveProperty('policy');
});

it('refuses an artifact that the Order no longer lists', () => {
  expect(() => withVersionRestored(order('first', []), 0, version({}), [])).toThrow(/no longer lists/);
});

it('shows what made a version another transfer', () => {
  expect(inputsOf(version({ image: 'app:1' }))).toMatchObject({ spec: { image: 'app:1' } });
});
