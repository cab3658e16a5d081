import { describe, expect, it } from 'vitest';
import { arcKinds } from '#shared/domain';
import {
  type MatchResources,
  type Rule,
  selectedByMatch,
  selectedByRules,
  writesTo,
} from './admission-rules.ts';

const group = 'arc.opendefense.cloud';
const writes = writesTo(arcKinds);
const all: Rule = { apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'], operations: ['*'] };
const ours: Rule = { ...all, apiGroups: [group], resources: ['orders'] };

/** As `operation resource[/subresource]`. */
function chosen(select: (write: (typeof writes)[number]) => boolean): string[] {
  return writes
    .filter(select)
    .map(({ operation, resource, subresource }) =>
      subresource === '' ? `${operation} ${resource}` : `${operation} ${resource}/${subresource}`,
    );
}
const byRule = (rule: Rule, matchPolicy?: string) =>
  chosen((write) => selectedByRules([rule], write, matchPolicy));
const byMatch = (match: MatchResources) => chosen((write) => selectedByMatch(match, write));

describe('the rules of a webhook', () => {
  it('select every write with stars', () => {
    expect(byRule(all)).toHaveLength(writes.length);
    expect(writes.length).toBeGreaterThan(15);
  });

  it.each<[string, Partial<Rule>, string[]]>([
    ['one operation', { operations: ['CREATE'] }, ['CREATE orders']],
    ['the objects', { resources: ['orders'] }, ['CREATE orders', 'UPDATE orders', 'DELETE orders']],
    ['the status alone', { resources: ['orders/status'] }, ['UPDATE orders/status']],
    [
      'any status',
      { resources: ['*/status'], apiGroups: ['apps', group] },
      ['UPDATE orders/status', 'UPDATE artifactworkflows/status', 'UPDATE endpoints/status'],
    ],
    [
      'all of it',
      { resources: ['orders/*'], operations: ['UPDATE'] },
      ['UPDATE orders', 'UPDATE orders/status'],
    ],
    [
      'what is in no namespace',
      { resources: ['*'], scope: 'Cluster', operations: ['DELETE'] },
      ['DELETE clusterartifacttypes'],
    ],
    ['another group', { apiGroups: ['apps'] }, []],
    ['another version', { apiVersions: ['v1'] }, []],
    ['another resource', { resources: ['pods', 'orders/scale'] }, []],
    ['connections', { operations: ['CONNECT'] }, []],
    ['no resource', { resources: [] }, []],
  ])('select %s', (_what, rule, expected) => {
    expect(byRule({ ...ours, ...rule }).sort()).toEqual([...expected].sort());
  });

  it('select by another version of the same resource, unless they must match exactly', () => {
    const [order] = arcKinds.filter(({ kind }) => kind === 'Order');
    if (order === undefined) throw new Error('no Order');
    const both = writesTo([order, { ...order, version: 'v1' }]);
    const rule = { ...ours, apiVersions: ['v1'] };
    const versions = (policy?: string) => [
      ...new Set(
        both.filter((write) => selectedByRules([rule], write, policy)).map(({ version }) => version),
      ),
    ];
    expect(versions()).toEqual(['v1alpha1', 'v1']);
    expect(versions('Equivalent')).toEqual(['v1alpha1', 'v1']);
    expect(versions('Exact')).toEqual(['v1']);
  });
});

describe('what a policy matches', () => {
  it('is everything without rules, less what is excluded', () => {
    expect(byMatch({})).toHaveLength(writes.length);
    const rest = byMatch({ excludeResourceRules: [{ ...ours, resources: ['orders', 'orders/status'] }] });
    expect(rest).toHaveLength(writes.length - 4);
    expect(byMatch({ resourceRules: [ours], excludeResourceRules: [all] })).toEqual([]);
  });

  it('is not emptied by the exclusion of a name', () => {
    const byName = { ...ours, resourceNames: ['harmless'] };
    expect(byMatch({ resourceRules: [ours], excludeResourceRules: [byName] })).toHaveLength(3);
  });
});
