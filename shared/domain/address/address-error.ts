import { ArcError } from '#shared/base/errors';

/** An address cannot be resolved. The message says what is wrong with the Endpoint or the artifact, and how to mend it. */
export class AddressError extends ArcError {
  constructor(message: string) {
    super('Invalid', message);
  }
}
