import { ArcError } from '#shared/base/errors';

/** The data on disk differs from what was written. */
export class StoreDamaged extends ArcError {
  /** Describes the damage. */
  readonly what: string;

  constructor(what: string, message = `the store is damaged: ${what}`) {
    super('InternalError', message);
    this.what = what;
  }
}

export function corrupt(what: string): StoreDamaged {
  return new StoreDamaged(`${what} cannot be read`);
}

/** Formats up to five keys and the number of further keys. */
export function listText(keys: readonly string[]): string {
  const shown = keys.slice(0, 5).join(', ');
  return keys.length > 5 ? `${shown} and ${keys.length - 5} more` : shown;
}
