import type { IKeyValue } from 'etcd3';
import { ArcError } from '#shared/base/errors';
import type { StoredItem } from '../interface/store.ts';

/** Where the store's keys are in etcd: below a root that callers neither give nor see. */
export class Keyspace {
  readonly #root: string;
  readonly #rootBytes: number;

  constructor(root: string) {
    this.#root = root;
    this.#rootBytes = Buffer.byteLength(root);
  }

  encode(key: string): Buffer {
    return Buffer.from(this.#root + key);
  }

  decode(key: Buffer): string {
    return key.toString('utf8', this.#rootBytes);
  }

  /** The range [key, range_end) of all keys that begin with `prefix`. */
  range(prefix: string): { key: Buffer; range_end: Buffer } {
    const key = this.encode(prefix);
    // For etcd, \0 as the end is the end of everything. UTF-8 never holds the byte ff, so there is always a successor.
    if (key.length === 0) return { key: Buffer.from([0]), range_end: Buffer.from([0]) };
    const end = Buffer.from(key);
    end.writeUInt8(end.readUInt8(end.length - 1) + 1, end.length - 1);
    return { key, range_end: end };
  }

  /** Copies the value: it must not keep alive the message it came in. */
  item(pair: IKeyValue): StoredItem {
    return {
      key: this.decode(pair.key),
      value: new Uint8Array(pair.value),
      revision: revisionOf(pair.mod_revision),
    };
  }
}

/** etcd3 gives 64-bit numbers as strings; revisions beyond 2^53 would take a million writes a second for 285 years. */
export function revisionOf(text: string | number): number {
  const revision = Number(text);
  if (Number.isSafeInteger(revision) && revision >= 0) return revision;
  throw new ArcError('InternalError', `etcd answered with ${JSON.stringify(text)} where a revision belongs`);
}
