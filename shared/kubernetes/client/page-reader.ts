import { ArcError } from '#shared/base/errors';
import type { Allowance } from './transport/transport.ts';

const pageSize = 500;
/**
 * Size limit of a page. Parsing takes about six times the size of a page in memory, and several kinds are listed concurrently. A page of 500
 * objects of more than a megabyte would fit neither in memory nor in a string.
 */
const pageBytes = 16 * 1024 * 1024;

/**
 * Reads a page of at most `limit` objects. Rejects with RequestEntityTooLarge if the page exceeds the allowance, from which what was read may be
 * subtracted.
 */
type ReadPage<P> = (limit: number, allowance: Allowance) => Promise<P>;

/**
 * Creates a reader for the pages of a list: large objects reduce the limit of this and later pages, which rises again slowly. Rejects as `read`
 * does, with RequestEntityTooLarge only if a single object exceeds what is left of `left` bytes.
 */
export function createPageReader(left = Number.POSITIVE_INFINITY) {
  let limit = pageSize;
  return async <P>(read: ReadPage<P>): Promise<P> => {
    for (;;) {
      // The size limit of a page does not apply to a single object, nor to a server without paging.
      const bytes = limit > 1 ? Math.min(pageBytes, left) : left;
      const allowance = { bytes };
      try {
        const page = await read(limit, allowance);
        left -= bytes - allowance.bytes;
        limit = Math.min(pageSize, Math.ceil(limit * 1.1));
        return page;
      } catch (caught) {
        if (limit === 1 || !ArcError.is(caught, 'RequestEntityTooLarge')) throw caught;
        limit = Math.ceil(limit / 8);
      }
    }
  };
}
