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

/** LMDB's data file, read page by page and not mapped: a page that is not there is an error here, and a signal for who maps the file. */
export class PageFile {
  readonly size: number;
  readonly pageSize: number;
  readonly #file: number;

  /** Throws the error of the system where the file cannot be opened. */
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

  /** The state that the newest transaction left. Throws PageError where one of the two meta pages is damaged: it may have been the newer one. */
  newest(): Meta {
    const [even, odd] = [this.meta(0), this.meta(1)];
    const newest = even.transaction >= odd.transaction ? even : odd;
    const distance = Math.abs(even.transaction - odd.transaction);
    if (distance !== 1 && newest.transaction !== 0)
      throw new PageError('the meta pages are not of two transactions in a row');
    if (even.pageSize !== this.pageSize || odd.pageSize !== this.pageSize)
      throw new PageError(`the pages do not have the size of ${this.pageSize} bytes`);
    return newest;
  }

  /** A branch or leaf page. Throws PageError. */
  page(number: number, newest: number): Page {
    const bytes = this.#read(number * this.pageSize, this.pageSize, `page ${number}`);
    checkHead(bytes, number, newest);
    return parsePage(bytes, number);
  }

  /** The value that has these pages; without its bytes where `withBytes` is false. Throws PageError. */
  overflow({ page, pages, bytes }: Overflow, newest: number, withBytes: boolean): Buffer | undefined {
    const start = page * this.pageSize;
    const head = this.#read(start, headBytes, `page ${page}`);
    checkHead(head, page, newest);
    if (overflowPages(head, page) !== pages || headBytes + bytes > pages * this.pageSize)
      throw new PageError(`page ${page} does not begin the value that it should`);
    if (start + headBytes + bytes > this.size)
      throw new PageError(`the value in page ${page} goes on beyond the end of the file`);
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
