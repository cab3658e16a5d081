import { ArcError } from '#shared/errors';
import type { Salvage } from './evidence.ts';

/** What is on disk is not what was written. */
export class StoreDamaged extends ArcError {
  /** Which part is wrong, and how. */
  readonly what: string;

  constructor(what: string, message = `the store is damaged: ${what}`) {
    super('InternalError', message);
    this.what = what;
  }
}

export function corrupt(what: string): StoreDamaged {
  return new StoreDamaged(`${what} cannot be read`);
}

/** The error with what a person needs to decide: where it is, what is lost, and how to go on. */
export function explainDamage(
  folder: string,
  { what }: StoreDamaged,
  { items, lost }: Salvage,
): StoreDamaged {
  const readable = `${items.length} of its objects can be read`;
  const known = lost.length === 0 ? '' : `, at least ${lost.length} cannot (${listText(lost)})`;
  const advice = 'Restore the folder from a backup, or recover what can be read';
  return new StoreDamaged(what, `the store in ${folder} is damaged: ${what}. ${readable}${known}. ${advice}`);
}

/** Up to five of the keys, and how many there are beyond them. */
export function listText(keys: readonly string[]): string {
  const shown = keys.slice(0, 5).join(', ');
  return keys.length > 5 ? `${shown} and ${keys.length - 5} more` : shown;
}
