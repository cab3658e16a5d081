import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import {
  checkHead,
  headBytes,
  type Meta,
  metaBytes,
  type Overflow,
  overflowPages,
  type Page,
  PageError,
  parseMeta,
  parsePage,
} from './page.ts';

/** The data file of LMDB, read page by page. A missing page is an error here, but a fatal signal with a memory map. */
export class PageFile {
  readonly size: number;
  readonly pageSize: number;
  readonly #file: number;

  /** Throws the system error if the file cannot be opened. */
  constructor(path: string, pageSize: number) {
    this.#file = openSync(path, 'r');
    this.size = fstatSync(this.#file).size;
    this.pageSize = pageSize;
  }

  close(): void {
    closeSync(this.#file);
  }

  /** Throws PageError. */
  meta(index: number): Meta {
    return parseMeta(this.#read(index * this.pageSize, metaBytes, `meta page ${index}`), index);
  }

  /** Returns the newest meta page. Throws PageError if one of the two is damaged, because it may be the newer one. */
  newest(): Meta {
    const [even, odd] = [this.meta(0), this.meta(1)];
    const newest = even.transaction >= odd.transaction ? even : odd;
    const distance = Math.abs(even.transaction - odd.transaction);
    if (distance !== 1 && newest.transaction !== 0)
      throw new PageError('the meta pages are not of two consecutive transactions');
    if (even.pageSize !== this.pageSize || odd.pageSize !== this.pageSize)
      throw new PageError(`the pages do not have the size of ${this.pageSize} bytes`);
    return newest;
  }

  /** Returns a branch or leaf page. Throws PageError. */
  page(number: number, newest: number): Page {
    const bytes = this.#read(number * this.pageSize, this.pageSize, `page ${number}`);
    checkHead(bytes, number, newest);
    return parsePage(bytes, number);
  }

  /** Checks the overflow pages of a value, and returns its bytes with `withBytes`. Throws PageError. */
  overflow({ page, pages, bytes }: Overflow, newest: number, withBytes: boolean): Buffer | undefined {
    const start = page * this.pageSize;
    const head = this.#read(start, headBytes, `page ${page}`);
    checkHead(head, page, newest);
    if (overflowPages(head, page) !== pages || headBytes + bytes > pages * this.pageSize)
      throw new PageError(`page ${page} is not the start of the expected value`);
    if (start + headBytes + bytes > this.size)
      throw new PageError(`the value in page ${page} extends beyond the end of the file`);
    return withBytes ? this.#read(start + headBytes, bytes, `page ${page}`) : undefined;
  }

  #read(offset: number, length: number, what: string): Buffer {
    if (!(offset + length <= this.size)) throw new PageError(`${what} is beyond the end of the file`);
    const bytes = Buffer.allocUnsafeSlow(length);
    const count = readSync(this.#file, bytes, 0, length, offset);
    if (count !== length) throw new PageError(`${what} cannot be read`);
    return bytes;
  }
}
