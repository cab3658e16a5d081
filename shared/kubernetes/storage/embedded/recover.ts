import { randomUUID } from 'node:crypto';
import { copyFileSync, linkSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { StoreDamaged } from './damage.ts';
import { openDatabase } from './disk.ts';
import type { Salvage } from './evidence.ts';
import { takeFolder } from './folder-lock.ts';
import { area, dataFile, format, formatKey, idKey, revisionKey, revisionKeyOf } from './layout.ts';
import { openChecked } from './open-checked.ts';
import { encodeRevision, encodeText, encodeValue } from './record.ts';
import { salvage } from './salvage.ts';
import { type Expected, readExpected, sentinelFile, syncFolder, writeSentinel } from './sentinel.ts';

/** What became of a damaged store. */
export interface Recovery {
  /** What was wrong. */
  damage: string;
  /** How many items are in the fresh store. */
  saved: number;
  /** Keys of items that are known to have been there and cannot be read. */
  lost: string[];
  /** The folder that the damaged files were moved to. */
  aside: string;
}

/**
 * Revisions that clients may have seen of writes of which nothing is left. A client that knows a greater revision than the store waits for it
 * instead of listing again.
 */
const unseenRevisions = 1000;

/**
 * Makes a fresh store of what can be read of a damaged one, in the same folder, and keeps the damaged files in a folder beside it. Its history is
 * empty: watches begin anew. Returns undefined, and has done nothing, if the store is not damaged. A kill in between leaves the damaged store
 * or the fresh one. Rejects as openEmbeddedStore does.
 */
export async function recoverEmbeddedStore(options: { folder: string }): Promise<Recovery | undefined> {
  const { folder, release } = await takeFolder(options.folder);
  try {
    const damage = await damageOf(folder);
    if (!damage) return undefined;
    const found = salvage(folder);
    const expected = expectedOf(folder);
    const id = expected?.id ?? found.id ?? randomUUID();
    const revision = Math.max(found.revision, expected?.revision ?? 0) + unseenRevisions;
    const fresh = await writeFresh(folder, { ...found, id, revision });
    const aside = keepAside(folder);
    renameSync(path.join(fresh, dataFile), path.join(folder, dataFile));
    syncFolder(folder);
    writeSentinel(folder, { id, revision }).close();
    rmSync(fresh, { recursive: true });
    return { damage: damage.what, saved: found.items.length, lost: found.lost, aside };
  } finally {
    release();
  }
}

async function damageOf(folder: string): Promise<StoreDamaged | undefined> {
  try {
    const { disk } = await openChecked(folder);
    await disk.close();
    return undefined;
  } catch (caught) {
    if (caught instanceof StoreDamaged) return caught;
    throw caught;
  }
}

/** Undefined where that itself is damaged. */
function expectedOf(folder: string): Expected | undefined {
  try {
    return readExpected(folder);
  } catch (caught) {
    if (caught instanceof StoreDamaged) return undefined;
    throw caught;
  }
}

/** Writes a store into a folder inside the other one, and returns its path. */
async function writeFresh(folder: string, { id, revision, items }: Salvage & Expected): Promise<string> {
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

/** The damaged files keep their place until the fresh one replaces them. */
function keepAside(folder: string): string {
  const time = new Date().toISOString().replaceAll(/[-:]/g, '');
  const aside = path.join(folder, `damaged-${time}`);
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
