import { ArcError } from '#shared/errors';
import { type Database, metaKey } from './disk.ts';
import { isRunning, ownIdentity, type ProcessIdentity } from './process-identity.ts';

const ownerKey = metaKey('owner');

/**
 * Makes this process the only user of the database, and returns what gives it up again. The claim is written in
 * a write transaction, which lmdb grants to one process at a time: two openers cannot both win. A claim whose
 * process has ended (kill -9, a crash, a reboot) counts for nothing.
 * Throws ArcError `Conflict`, naming the process that holds the folder.
 */
export function claimFolder(database: Database, folder: string): () => void {
  const own = ownIdentity();
  const holder = database.transactionSync(() => {
    const found = readOwner(database);
    if (found && isRunning(found)) return found;
    database.putSync(ownerKey, Buffer.from(JSON.stringify(own)));
    return undefined;
  });
  if (holder) throw new ArcError('Conflict', refusal(folder, holder));
  return () => {
    database.transactionSync(() => {
      const found = readOwner(database);
      if (found?.pid === own.pid && found.at === own.at) database.removeSync(ownerKey);
    });
  };
}

function refusal(folder: string, holder: ProcessIdentity): string {
  const who = holder.pid === process.pid ? 'this process already' : `process ${holder.pid}`;
  return `the store in ${folder} is in use by ${who}: stop it first, or choose another folder`;
}

/** A claim that cannot be read does not keep the store from opening. */
function readOwner(database: Database): ProcessIdentity | undefined {
  const stored = database.get(ownerKey)?.toString();
  const [, pid, started, at] = /^\{"pid":(\d+)(?:,"started":"(\d+)")?,"at":(\d+)\}$/.exec(stored ?? '') ?? [];
  return pid ? { pid: Number(pid), started, at: Number(at) } : undefined;
}
