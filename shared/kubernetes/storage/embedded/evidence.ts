import { compareKeys } from '../interface/keys.ts';
import type { StoredItem } from '../interface/store.ts';
import { type EventRecord, firstRevision } from '../memory/history.ts';
import { area, formatKey, formatWithoutChecksums, idKey, revisionKey } from './layout.ts';
import { decodeBareRecord, decodeRecord, decodeText, decodeValue } from './record.ts';

/** A raw entry of the database. */
export interface RawEntry {
  key: Buffer;
  value: Buffer;
}

/** The readable part of a damaged store. */
export interface Salvage {
  /** The ID of the store; undefined if unreadable. */
  id: string | undefined;
  /** The greatest revision found. */
  revision: number;
  /** In byte order of their keys. */
  items: StoredItem[];
  /** Keys of items whose newest value is unreadable. */
  lost: string[];
}

/**
 * Reconstructs the items of a store from entries, any of which may be missing, damaged or outdated. The newest revision of a key wins. A
 * complete index determines which keys exist. Reads the entries twice.
 */
export function reconstruct(read: () => Iterable<RawEntry>, isIndexComplete: boolean): Salvage {
  const texts = textsOf(read());
  const evidence = new Evidence(texts.hasChecksums);
  for (const entry of read()) evidence.add(entry);
  return {
    id: texts.id,
    revision: Math.max(firstRevision, texts.revision, evidence.revision),
    ...evidence.state(isIndexComplete),
  };
}

class Evidence {
  /** The greatest revision seen. */
  revision = 0;
  readonly #hasChecksums: boolean;
  readonly #values = new Map<number, { key?: string; value: Uint8Array }>();
  /** The key written at each revision. */
  readonly #writers = new Map<number, string>();
  readonly #newest = new Map<string, { revision: number; isThere: boolean }>();
  readonly #index = new Map<number, string[]>();

  constructor(hasChecksums: boolean) {
    this.#hasChecksums = hasChecksums;
  }

  add({ key, value }: RawEntry): void {
    if (key[0] === area.items)
      this.#addItem(key.toString('utf8', 1), value.length === 8 ? Number(value.readBigUInt64BE()) : 0);
    if (key.length !== 9) return;
    const revision = Number(key.readBigUInt64BE(1));
    if (key[0] === area.history) this.#addEvent(revision, value);
    if (key[0] === area.values) this.#addValue(revision, value);
  }

  #addItem(key: string, revision: number): void {
    const others = this.#index.get(revision) ?? [];
    this.#index.set(revision, [...others, key]);
    if (!this.#hasChecksums) this.revision = Math.max(this.revision, revision);
  }

  #addEvent(revision: number, bytes: Buffer): void {
    const record = readRecord(revision, bytes, this.#hasChecksums);
    if (!record) return;
    this.#writers.set(revision, record.key);
    this.#learn(record.key, revision, record.type === 'put');
  }

  #addValue(revision: number, bytes: Buffer): void {
    const found = this.#hasChecksums ? decodeValue(revision, bytes) : { value: new Uint8Array(bytes) };
    if (!found) return;
    this.#values.set(revision, found);
    if ('key' in found) this.#learn(found.key, revision, true);
  }

  #learn(key: string, revision: number, isThere: boolean): void {
    if (revision > (this.#newest.get(key)?.revision ?? 0)) this.#newest.set(key, { revision, isThere });
    this.revision = Math.max(this.revision, revision);
  }

  /** Evaluates the index after all other entries. Returns its keys. */
  #learnIndex(): ReadonlySet<string> {
    const known = new Set<string>();
    for (const [revision, keys] of this.#index) {
      for (const key of keys) {
        // The index has no checksums: if a key in it is damaged, the value contains the right key.
        known.add(key).add(this.#values.get(revision)?.key ?? key);
        if (revision <= this.revision) this.#learn(key, revision, true);
      }
    }
    return known;
  }

  state(isIndexComplete: boolean): Pick<Salvage, 'items' | 'lost'> {
    const known = this.#learnIndex();
    const items: StoredItem[] = [];
    const lost: string[] = [];
    for (const [key, { revision, isThere }] of this.#newest) {
      if (!isThere || (isIndexComplete && !known.has(key))) continue;
      const found = this.#values.get(revision);
      const isShared = new Set(this.#index.get(revision)).size > 1;
      const owner = found?.key ?? this.#writers.get(revision) ?? (isShared ? undefined : key);
      if (found && owner === key) items.push({ key, value: found.value, revision });
      else if (!found || isShared) lost.push(key);
    }
    items.sort((a, b) => compareKeys(a.key, b.key));
    return { items, lost: lost.sort(compareKeys) };
  }
}

interface Texts {
  id: string | undefined;
  revision: number;
  hasChecksums: boolean;
}

/** Reads the metadata of the store. Entries may be from several points in time. */
function textsOf(entries: Iterable<RawEntry>): Texts {
  const texts: Texts = { id: undefined, revision: 0, hasChecksums: true };
  let isChecked = false;
  for (const { key, value } of entries) {
    if (key[0] !== area.meta) continue;
    const text = decodeText(value);
    isChecked ||= text !== undefined;
    const bare = value.toString('latin1');
    if (key.equals(idKey)) texts.id ??= text;
    if (key.equals(revisionKey) && /^\d{1,15}$/.test(text ?? bare))
      texts.revision = Math.max(texts.revision, Number(text ?? bare));
    if (key.equals(formatKey) && bare === formatWithoutChecksums) texts.hasChecksums = false;
  }
  return { ...texts, hasChecksums: texts.hasChecksums || isChecked };
}

function readRecord(revision: number, bytes: Buffer, hasChecksums: boolean): EventRecord | undefined {
  try {
    return hasChecksums ? decodeRecord(revision, bytes) : decodeBareRecord(revision, bytes);
  } catch {
    return undefined;
  }
}
