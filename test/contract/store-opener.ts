import { createHash } from 'node:crypto';
import { createInterface } from 'node:readline';
import { ArcError } from '#shared/base/errors';
import { openEmbeddedStore, recoverEmbeddedStore, type StoredItem } from '#shared/kubernetes/storage';

/** What one folder was found to hold. */
export interface Opened {
  /** Each item as `key revision sha256`; undefined: the store did not open. */
  items?: string[];
  /** The state at every sixth past revision, as a SHA-256 or as the message of the error. */
  past?: string[];
  /** Why it did not open. */
  refusal?: { code: string; message: string };
  /** After a refusal: what a recovery saved, and what it says is lost. */
  saved?: string[];
  lost?: string[];
}

/**
 * The process that opens stores which may be damaged, so that a crash is the end of this process only: takes a folder on each line of stdin and
 * answers with an Opened on a line of stdout. It writes to each, too, because LMDB has to find free pages then.
 */
for await (const folder of createInterface({ input: process.stdin }))
  console.log(JSON.stringify(await examine(folder)));

async function examine(folder: string): Promise<Opened> {
  try {
    return await read(folder);
  } catch (caught) {
    const { code, message } = ArcError.from(caught);
    const recovery = await recoverEmbeddedStore({ folder });
    const { items = [] } = await read(folder);
    return { refusal: { code, message }, saved: items, lost: recovery?.lost ?? [] };
  }
}

async function read(folder: string): Promise<Opened> {
  const store = await openEmbeddedStore({ folder });
  try {
    const { items, revision: newest } = await store.list('/');
    const past: string[] = [];
    for (let revision = 2; revision <= newest; revision += 6) {
      const state = store.list('/', { revision }).then((list) => sha256(list.items.map(textOf).join('\n')));
      past.push(await state.catch((caught: unknown) => ArcError.from(caught).message));
    }
    const writes = ['a', 'b', 'c'].map((name) => store.create(`/~${name}`, new Uint8Array(30_000)));
    if ((await Promise.all(writes)).some(({ ok }) => !ok)) throw new Error('the store does not go on');
    return { items: items.map(textOf), past };
  } finally {
    await store.close();
  }
}

function textOf({ key, value, revision }: StoredItem): string {
  return `${key} ${revision} ${sha256(value)}`;
}

function sha256(data: Uint8Array | string): string {
  return createHash('sha256').update(data).digest('hex');
}
