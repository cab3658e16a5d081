import { expect, it } from 'vitest';
import { order } from '../testing/objects.ts';
import { invalid } from '../values/causes.ts';
import { listCauses, uniqueNames } from './causes.ts';
import { orderCauses } from './order-causes.ts';

it('works out no more problems of a list than are told', () => {
  let seen = 0;
  const causes = listCauses(Array.from({ length: 10_000 }).keys(), (index) => {
    seen += 1;
    return index % 2 === 0 ? [] : [invalid(`list[${index}]`, 'Invalid value')];
  });
  expect(causes).toHaveLength(101);
  expect(causes[0]?.field).toBe('list[1]');
  expect(seen).toBe(202);
  expect(uniqueNames('list', Array(10_000).fill('n'))).toHaveLength(101);
});

it('an Order of thousands of wrong artifacts is told about the first of them', () => {
  const wrong = order('many', ['a:1']);
  wrong.spec = { artifacts: Array(10_000).fill({ type: '', spec: { image: '{{' } }) };
  const fields = orderCauses(wrong, undefined).map(({ field }) => field);
  expect(fields).toContain('spec.artifacts[0].type');
  expect(fields).toContain('spec.artifacts[0].srcRef');
  expect(fields.length).toBeLessThan(250);
});
