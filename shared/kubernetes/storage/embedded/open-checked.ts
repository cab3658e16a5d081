import { randomUUID } from 'node:crypto';
import { rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { firstRevision } from '../memory/history.ts';
import { checkIndex } from './check-index.ts';
import { StoreDamaged } from './damage.ts';
import { createDisk, type Disk, type Loaded, openDatabase, readIdentity } from './disk.ts';
import { readEarlierOwner, refuseRunningOwner } from './earlier-owner.ts';
import { dataFile, pageSize } from './layout.ts';
import { inspectPages } from './lmdb-file/check-pages.ts';
import { PageFile } from './lmdb-file/page-file.ts';
import { type Expected, openSentinel, readExpected, type Sentinel, writeSentinel } from './sentinel.ts';
import { upgrade } from './upgrade.ts';

/**
 * Opens and verifies the data of a locked folder: the data is not older than the sentinel, the pages of LMDB are valid before the file is
 * mapped, checksums match, and the index is consistent. Rejects with StoreDamaged otherwise, and with `Conflict` while a process of an
 * earlier version uses the folder, without changing the data.
 */
export async function openChecked(folder: string): Promise<{ disk: Disk; loaded: Loaded }> {
  const expected = readExpected(folder);
  const isNew = !hasSoundFile(path.join(folder, dataFile), expected);
  // Written before the data, so that missing data is detected later.
  let sentinel: Sentinel | undefined;
  if (expected) sentinel = openSentinel(folder, expected);
  else if (isNew) sentinel = writeSentinel(folder, { id: randomUUID(), revision: firstRevision });
  const database = await openDatabase(folder);
  try {
    const id = readIdentity(database);
    sentinel ??= writeSentinel(folder, { id: id ?? randomUUID(), revision: firstRevision });
    if (id !== undefined && id !== sentinel.id)
      throw new StoreDamaged(
        `its file ${dataFile} belongs to another store than the other files of the folder`,
      );
    upgrade(database, sentinel.id);
    const disk = createDisk(database, sentinel);
    const loaded = disk.load();
    checkIndex(loaded);
    if (expected && loaded.revision < expected.revision)
      throw new StoreDamaged(
        `its data ends at revision ${loaded.revision}, and writes up to revision ${expected.revision} were acknowledged`,
      );
    sentinel.note(loaded.revision);
    return { disk, loaded };
  } catch (caught) {
    sentinel?.close();
    await database.close();
    throw caught;
  }
}

/** Returns false if no data was written yet, and then removes an incomplete file of a killed process. Throws like openChecked. */
function hasSoundFile(file: string, expected: Expected | undefined): boolean {
  const bytes = statSync(file, { throwIfNoEntry: false })?.size;
  const wasWritten = expected && expected.revision > firstRevision;
  if (bytes === undefined) {
    if (!wasWritten) return false;
    throw new StoreDamaged(
      `its file ${dataFile} is missing, and writes up to revision ${expected.revision} were in it`,
    );
  }
  if (bytes < 2 * pageSize) {
    if (!wasWritten && expected) {
      rmSync(file);
      return false;
    }
    const had = wasWritten ? `, and writes up to revision ${expected.revision} were in it` : '';
    throw new StoreDamaged(`its file ${dataFile} has ${bytes} bytes${had}`);
  }
  const pages = new PageFile(file, pageSize);
  try {
    // Earlier versions had no sentinel. While such a version writes, its pages look damaged.
    if (!expected) refuseRunningOwner(readEarlierOwner(pages));
    const { finding } = inspectPages(pages);
    if (finding !== undefined)
      throw new StoreDamaged(`its file ${dataFile} is not what was written: ${finding}`);
    return true;
  } finally {
    pages.close();
  }
}
