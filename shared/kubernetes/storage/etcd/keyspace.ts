import type { IKeyValue } from 'etcd3';
import { ArcError } from '#shared/base/errors';
import type { StoredItem } from '../interface/store.ts';

/** Maps store keys to etcd keys, below a root prefix that callers do not see. */
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

  /** Returns the range [key, range_end) of all keys with `prefix`. */
  range(prefix: string): { key: Buffer; range_end: Buffer } {
    const key = this.encode(prefix);
    // For etcd, an end of \0 means unbounded. UTF-8 does not contain the byte ff, so there is always a successor.
    if (key.length === 0) return { key: Buffer.from([0]), range_end: Buffer.from([0]) };
    const end = Buffer.from(key);
    end.writeUInt8(end.readUInt8(end.length - 1) + 1, end.length - 1);
    return { key, range_end: end };
  }

  /** Copies the value, which would otherwise keep the whole message alive. */
  item(pair: IKeyValue): StoredItem {
    return {
      key: this.decode(pair.key),
      value: new Uint8Array(pair.value),
      revision: revisionOf(pair.mod_revision),
    };
  }
}

/** Parses a revision, which etcd3 represents as a string. Reaching 2^53 takes 285 years at a million writes per second. */
export function revisionOf(text: string | number): number {
  const revision = Number(text);
  if (Number.isSafeInteger(revision) && revision >= 0) return revision;
  throw new ArcError('InternalError', `etcd returned an invalid revision: ${JSON.stringify(text)}`);
}
