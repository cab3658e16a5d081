import { copyFileSync, linkSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import type { StoredItem } from '../interface/store.ts';
import { openDatabase } from './disk.ts';
import { area, dataFile, format, formatKey, idKey, revisionKey, revisionKeyOf } from './layout.ts';
import { encodeRevision, encodeText, encodeValue } from './record.ts';
import { type Expected, sentinelFile, syncFolder, writeSentinel } from './sentinel.ts';

/** The content of a new store without history. Each item has its own revision, at most `revision`. */
interface FreshData extends Expected {
  items: readonly StoredItem[];
}

/**
 * Replaces the data in a locked folder and moves the previous files to a subfolder `<reason>-<time>`, whose path it returns. Atomic: a crash
 * leaves the previous or the new data.
 */
export async function replaceData(folder: string, data: FreshData, reason: string): Promise<string> {
  const { id, revision } = data;
  const fresh = await writeFresh(folder, data);
  const aside = keepAside(folder, reason);
  renameSync(path.join(fresh, dataFile), path.join(folder, dataFile));
  syncFolder(folder);
  writeSentinel(folder, { id, revision }).close();
  rmSync(fresh, { recursive: true });
  return aside;
}

/** Writes a store to a subfolder and returns its path. */
async function writeFresh(folder: string, { id, revision, items }: FreshData): Promise<string> {
  const fresh = path.join(folder, 'recovered.partial');
  rmSync(fresh, { recursive: true, force: true });
  mkdirSync(fresh, { mode: 0o700 });
  const database = await openDatabase(fresh);
  try {
    database.transactionSync(() => {
      for (const item of items) {
        const key = Buffer.concat([Buffer.of(area.items), Buffer.from(item.key)]);
        database.putSync(key, encodeRevision(item.revision));
        database.putSync(revisionKeyOf(area.values, item.revision), encodeValue(item));
      }
      database.putSync(revisionKey, encodeText(String(revision)));
      database.putSync(formatKey, encodeText(format));
      database.putSync(idKey, encodeText(id));
    });
  } finally {
    await database.close();
  }
  return fresh;
}

/** Links the files into a subfolder. They stay in place until they are replaced. */
function keepAside(folder: string, reason: string): string {
  const time = new Date().toISOString().replaceAll(/[-:]/g, '');
  const aside = path.join(folder, `${reason}-${time}`);
  mkdirSync(aside, { mode: 0o700 });
  for (const name of [dataFile, sentinelFile]) {
    const from = path.join(folder, name);
    if (!statSync(from, { throwIfNoEntry: false })?.isFile()) continue;
    const to = path.join(aside, name);
    try {
      linkSync(from, to);
    } catch {
      copyFileSync(from, to); // the file system has no links
    }
  }
  syncFolder(aside);
  return aside;
}
