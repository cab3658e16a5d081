import { describe, expect, it } from 'vitest';
import { catalogue } from '../kinds/served-groups.ts';
import { sampleKinds, sampleOrder } from '../testing/sample-kinds.ts';
import { apiGroup, apiGroupList, apiVersions } from './discovery-legacy.ts';

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
