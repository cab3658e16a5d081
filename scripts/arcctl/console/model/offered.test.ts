import { expect, it } from 'vitest';
import { offeredForArtifact, offeredForOrder } from './offered.ts';

it.each([
  ['runs', {}, ['Running', 'Succeeded'], ['force', 'suspend', 'cancel']],
  ['has failed', {}, ['Failed', 'Succeeded'], ['retry', 'force']],
  ['has arrived', {}, ['Succeeded'], ['force']],
  ['is suspended', { suspend: true }, ['Pending', 'Failed'], ['resume', 'cancel']],
  ['is cancelled', { cancel: true }, ['Cancelled'], ['resume']],
  ['is empty', {}, [], []],
])('offers what can work for an Order that %s', (_, spec, phases, expected) => {
  expect(offeredForOrder({ spec }, phases)).toEqual(expected);
});

it.each([
  ['Failed', {}, true, ['retry']],
  ['Running', {}, true, ['cancel']],
  ['Succeeded', {}, true, []],
  ['Invalid', {}, false, []],
  ['Cancelled', { cancel: true }, true, []],
  ['Failed', { suspend: true }, true, []],
])('offers for an artifact that is %s of an Order with %j', (phase, spec, hasWorkflow, expected) => {
  expect(offeredForArtifact({ spec }, phase, hasWorkflow)).toEqual(expected);
});
