import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { mkdir, realpath } from 'node:fs/promises';
import { hostname } from 'node:os';
import path from 'node:path';
import { ArcError } from '#shared/base/errors';
import { requireLocalFileSystem } from './file-system.ts';

/** The locked file. It stays empty, and must not be removed while a store is open. */
const lockFile = 'owner.lock';
/** Describes the owner of the lock, for error messages. */
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

/** A locked folder. */
export interface OwnFolder {
  /** The real path. */
  folder: string;
  /** Releases the lock. */
  release: () => void;
}

/**
 * Locks a folder for this process. Creates the folder with mode 0700 if it is missing, because values include credentials. Uses a kernel file
 * lock (fcntl, LockFileEx on Windows), which works across containers and PID namespaces and is released when the process ends. Node has no
 * API for such locks, but its SQLite takes one for an exclusive transaction. Rejects with ArcError: `Conflict` that names the owner process;
 * `Invalid` if the lock would not exclude all processes.
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
    // The journal would otherwise be another file.
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
    // Best effort: the error message of a second process is less precise.
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
