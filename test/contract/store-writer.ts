import { writeSync } from 'node:fs';
import { openEmbeddedStore, type Store } from '#shared/kubernetes/storage';

/** The process that the kill test kills: writes without end and says on stdout, a line each, what was acknowledged. */
const [folder = ''] = process.argv.slice(2);
const store = await openEmbeddedStore({ folder, historyLimit: 200 });
say('open', await store.revision());
await Promise.all(Array.from({ length: 16 }, (_, lane) => writeForever(store, `/lane/${lane}`)));

/** Counts up in one key, deleting it every seventh time. */
async function writeForever(target: Store, key: string): Promise<never> {
  let { item } = await target.get(key);
  for (let count = 0; ; count += 1) {
    const value = Buffer.from(`${key} ${count} ${'.'.repeat(count % 3000)}`);
    const result = await (item ? target.update(key, value, item.revision) : target.create(key, value));
    if (!result.ok) throw new Error(`${key}: somebody else wrote it: ${JSON.stringify(result.current)}`);
    say(key, result.revision);
    item = { key, value, revision: result.revision };
    if (count % 7 !== 6) continue;
    const gone = await target.delete(key, result.revision);
    if (!gone.ok) throw new Error(`${key}: it could not be deleted`);
    say(`-${key}`, gone.revision);
    item = undefined;
  }
}

/** Synchronous: what was written is in the pipe when the process is killed. */
function say(what: string, revision: number): void {
  writeSync(1, `${what} ${revision}\n`);
}
