import { ArcError } from '#shared/base/errors';

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

/** Up to five of the keys, and how many there are beyond them. */
export function listText(keys: readonly string[]): string {
  const shown = keys.slice(0, 5).join(', ');
  return keys.length > 5 ? `${shown} and ${keys.length - 5} more` : shown;
}
