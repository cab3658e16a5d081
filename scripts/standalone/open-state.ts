import path from 'node:path';
import { ArcError } from '#shared/base/errors';
import {
  openEmbeddedStore,
  type Recovery,
  recoverEmbeddedStore,
  type Store,
  StoreDamaged,
} from '#shared/kubernetes/storage';

const storeIn = (folder: string) => path.join(folder, 'store');

/** Opens the store in the standalone's folder. Rejects like openEmbeddedStore; for a damaged store, the message has the recovery command. */
export async function openState(folder: string): Promise<Store> {
  try {
    return await openEmbeddedStore({ folder: storeIn(folder) });
  } catch (caught) {
    if (!(caught instanceof StoreDamaged)) throw caught;
    const message = `${caught.message}: npm start -- --folder ${JSON.stringify(folder)} --recover`;
    throw new ArcError(caught.code, message, { cause: caught });
  }
}

/** Recovers the readable part of a damaged store and returns a message. */
export async function recoverState(folder: string): Promise<string> {
  const recovery = await recoverEmbeddedStore({ folder: storeIn(folder) });
  return recovery
    ? recoveryText(recovery)
    : `The store in ${storeIn(folder)} is not damaged: nothing to recover.`;
}

/** Describes the damage, the lost objects, and the location of the damaged files. */
export function recoveryText({ damage, saved, lost, aside }: Recovery): string {
  const lines = [
    `The store was damaged: ${damage}.`,
    `Recovered ${saved} objects. The damaged files are in ${aside}; delete them when you no longer need them.`,
    'Some objects may be in an older state, or exist although they were deleted.',
  ];
  if (lost.length > 0) lines.push('Known to be lost:', ...lost.map((key) => `  ${key}`));
  return lines.join('\n');
}
