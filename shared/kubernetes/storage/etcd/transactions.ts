import type { ICompare, ITxnRequest } from 'etcd3';

/** A conditional write to an etcd key. `expected` is its mod_revision (0: absent); without a value, a delete. */
export interface KeyWrite {
  key: Buffer;
  value: Buffer | undefined;
  expected: number;
}

/**
 * Returns the only form of write transaction that kine supports (it matches on the shape): if the key is at the expected revision, put or
 * delete it, otherwise read it.
 */
export function writeTransaction({ key, value, expected }: KeyWrite): ITxnRequest {
  const compare: ICompare = { target: 'Mod', result: 'Equal', key, mod_revision: expected };
  const success = value ? { request_put: { key, value } } : { request_delete_range: { key } };
  return { compare: [compare], success: [success], failure: [{ request_range: { key } }] };
}

/** The compaction key of kube-apiserver and kine, shared so that only one process compacts. */
export const compactionKey = Buffer.from('compact_rev_key');

/** Returns a transaction that claims the turn `version`. It succeeds for one process only, because it increments the version. */
export function compactionTransaction(version: number, revision: number): ITxnRequest {
  const key = compactionKey;
  return {
    compare: [{ target: 'Version', result: 'Equal', key, version }],
    success: [{ request_put: { key, value: Buffer.from(String(revision)) } }],
    failure: [{ request_range: { key } }],
  };
}
