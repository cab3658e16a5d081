import type { ICompare, ITxnRequest } from 'etcd3';

/** A conditional write to one etcd key: `expected` is its mod_revision (0: absent); no value means delete. */
export interface KeyWrite {
  key: Buffer;
  value: Buffer | undefined;
  expected: number;
}

/**
 * The only transactions there are, because kine understands no others (it matches on their shape): if the key is at
 * the expected revision put or delete it, else read it.
 */
export function writeTransaction({ key, value, expected }: KeyWrite): ITxnRequest {
  const compare: ICompare = { target: 'Mod', result: 'Equal', key, mod_revision: expected };
  const success = value ? { request_put: { key, value } } : { request_delete_range: { key } };
  return { compare: [compare], success: [success], failure: [{ request_range: { key } }] };
}

/** The key kube-apiserver and kine use as well, so that one process compacts, however many there are. */
export const compactionKey = Buffer.from('compact_rev_key');

/** Takes the turn of `version`. Only one member can, because the put makes it version + 1. */
export function compactionTransaction(version: number, revision: number): ITxnRequest {
  const key = compactionKey;
  return {
    compare: [{ target: 'Version', result: 'Equal', key, version }],
    success: [{ request_put: { key, value: Buffer.from(String(revision)) } }],
    failure: [{ request_range: { key } }],
  };
}
