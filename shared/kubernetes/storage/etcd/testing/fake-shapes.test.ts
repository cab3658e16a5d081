import type { ITxnRequest } from 'etcd3';
import { describe, expect, it } from 'vitest';
import { compactionTransaction, writeTransaction } from '../transactions.ts';
import { checkRange, checkWatch, knownTransaction } from './fake-shapes.ts';

const key = Buffer.from('/a');
const value = Buffer.from('1');
const read = [{ request_range: { key } }];
const put = [{ request_put: { key, value } }];
const mod = (mod_revision: number) => [
  { target: 'Mod' as const, result: 'Equal' as const, key, mod_revision },
];

describe('the transactions kine understands', () => {
  it('are the transactions of the store', () => {
    expect(knownTransaction(writeTransaction({ key, value, expected: 0 }))).toMatchObject({
      expected: 0,
      value,
    });
    expect(knownTransaction(writeTransaction({ key, value, expected: 5 }))).toMatchObject({
      expected: 5,
      value,
    });
    const gone = knownTransaction(writeTransaction({ key, value: undefined, expected: 5 }));
    expect(gone).toMatchObject({ expected: 5, value: undefined });
    expect(knownTransaction(compactionTransaction(3, 100))).toMatchObject({ type: 'compaction', version: 3 });
    expect(knownTransaction({ compare: mod(0), success: put, failure: [] })).toMatchObject({ expected: 0 });
  });

  const others: Record<string, ITxnRequest> = {
    'no compare': { compare: [], success: put, failure: read },
    'two compares': { compare: [...mod(1), ...mod(1)], success: put, failure: read },
    'two puts': { compare: mod(1), success: [...put, ...put], failure: read },
    'an update without the read': { compare: mod(1), success: put, failure: [] },
    'the read of another key': {
      compare: mod(1),
      success: put,
      failure: [{ request_range: { key: Buffer.from('/b') } }],
    },
    'a delete of an absent key': {
      compare: mod(0),
      success: [{ request_delete_range: { key } }],
      failure: read,
    },
    'a delete of a range': {
      compare: mod(1),
      success: [{ request_delete_range: { key, range_end: Buffer.from('/b') } }],
      failure: read,
    },
    'a put with the previous value': {
      compare: mod(0),
      success: [{ request_put: { key, value, prev_kv: true } }],
      failure: read,
    },
    'a version compare elsewhere': {
      compare: [{ target: 'Version', result: 'Equal', key, version: 0 }],
      success: put,
      failure: read,
    },
    'a greater-than compare': {
      compare: [{ target: 'Mod', result: 'Greater', key, mod_revision: 0 }],
      success: put,
      failure: read,
    },
  };
  for (const [name, request] of Object.entries(others)) {
    it(`are not ${name}`, () => {
      expect(() => knownTransaction(request)).toThrow('UNIMPLEMENTED');
    });
  }

  it('come with ranges and watches that are as plain', () => {
    expect(() => checkRange({ key, serializable: true })).toThrow('UNIMPLEMENTED');
    expect(() => checkRange({ key, sort_order: 'Descend' })).toThrow('UNIMPLEMENTED');
    expect(() => checkWatch({ key, watch_id: 7 })).toThrow('UNIMPLEMENTED');
  });
});
