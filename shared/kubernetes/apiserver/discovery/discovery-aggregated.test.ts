import { describe, expect, it } from 'vitest';
import { wantsAggregated } from './discovery-aggregated.ts';

describe('wantsAggregated', () => {
  const v2 = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
  it.each([
    [v2, true],
    [`application/vnd.kubernetes.protobuf;as=APIGroupDiscoveryList;v=v2;g=apidiscovery.k8s.io,${v2}`, true],
    [`${v2};q=0.5,application/json`, false],
    [`${v2};q=0`, false],
    ['application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList', false],
    [undefined, false],
  ])('%s: %s', (accept, wanted) => {
    expect(wantsAggregated(accept)).toBe(wanted);
  });
});
