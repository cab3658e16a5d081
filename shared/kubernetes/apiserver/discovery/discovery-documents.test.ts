import { describe, expect, it } from 'vitest';
import { catalogue } from '../kinds/served-kinds.ts';
import { sampleKinds, sampleOrder } from '../testing/sample-kinds.ts';
import { apiGroup, apiGroupList, apiVersions, wantsAggregated } from './discovery-documents.ts';

describe('legacy discovery documents', () => {
  const groups = catalogue([...sampleKinds, { ...sampleOrder, version: 'v1' }]);
  it('prefer the version declared first', () => {
    const group = groups.find((one) => one.name === 'arc.example.com');
    expect(group && apiGroup(group)).toMatchObject({
      versions: [{ version: 'v1alpha1' }, { version: 'v1' }],
      preferredVersion: { version: 'v1alpha1' },
    });
  });
  it('leave core out of the groups and say where it is served', () => {
    expect(JSON.stringify(apiGroupList(groups))).not.toContain('"name":""');
    expect(apiVersions(groups, '127.0.0.1:6443')).toMatchObject({
      serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: '127.0.0.1:6443' }],
    });
  });
});

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
