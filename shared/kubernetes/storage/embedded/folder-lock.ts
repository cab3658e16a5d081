import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { mkdir, realpath } from 'node:fs/promises';
import { hostname } from 'node:os';
import path from 'node:path';
import { ArcError } from '#shared/base/errors';
import { requireLocalFileSystem } from './file-system.ts';

/** A lock on bytes of this file is what excludes others. It stays empty; to remove it while a store is open would give the folder away. */
const lockFile = 'owner.lock';
/** Says who holds the lock, for the message only. */
const ownerFile = 'owner.json';

/** SQLITE_BUSY. */
const busy = 5;
const thisProcess = randomUUID();

interface Owner {
  process: string;
  pid: number;
  host: string;
  since: string;
}

/** A folder that no other process uses. */
export interface OwnFolder {
  /** Its real path. */
  folder: string;
  /** Gives the folder up. */
  release: () => void;
}

/**
 * Makes this process the only user of a folder, which is made if absent: for its user alone, because credentials are among the values. The lock is one of the kernel on a file (fcntl, on
 * Windows LockFileEx): it reaches processes of every container and pid namespace, and ends with its process, however that ends. Node has no
 * function for such locks; SQLite, which is a part of Node, takes one for an exclusive transaction.
 * Throws ArcError: `Conflict`, naming the process that holds the folder; `Invalid` where such a lock would not exclude everybody.
 */
export async function takeFolder(name: string): Promise<OwnFolder> {
  await mkdir(name, { recursive: true, mode: 0o700 });
  const folder = await realpath(name);
  await requireLocalFileSystem(folder);
  const { DatabaseSync } = await import('node:sqlite').catch((caught: unknown) => {
    const message = 'the embedded store needs node:sqlite, which Node has from 22.13 on: use a later Node';
    throw new ArcError('Invalid', message, { cause: caught });
  });
  const database = new DatabaseSync(path.join(folder, lockFile), { open: false });
  try {
    database.open();
    // Without a journal in memory there would be a file for it.
    database.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
  } catch (caught) {
    if (database.isOpen) database.close();
    if (caught instanceof Error && 'errcode' in caught && caught.errcode === busy)
      throw new ArcError('Conflict', refusal(folder));
    const reason = ArcError.from(caught).message;
    const message = `the store in ${folder} cannot be locked (${reason}): a lock on the file ${lockFile} in it is needed`;
    throw new ArcError('Invalid', message, { cause: caught });
  }
  const owner: Owner = {
    process: thisProcess,
    pid: process.pid,
    host: hostname(),
    since: new Date().toISOString(),
  };
  try {
    writeFileSync(path.join(folder, ownerFile), `${JSON.stringify(owner)}\n`, { mode: 0o600 });
  } catch {
    // On a full disk the message to a second process is less precise.
  }
  const release = () => {
    if (database.isOpen) database.close();
  };
  return { folder, release };
}

function refusal(folder: string): string {
  return `the store in ${folder} is in use by ${ownerText(folder)}: stop it first, or choose another folder`;
}

function ownerText(folder: string): string {
  try {
    const {
      process: id,
      pid,
      host,
      since,
    }: Owner = JSON.parse(readFileSync(path.join(folder, ownerFile), 'utf8'));
    return id === thisProcess ? 'this process already' : `process ${pid} of host ${host} since ${since}`;
  } catch {
    return 'another process';
  }
}
