import { describe, expect, it } from 'vitest';
import { entriesOfIndex, entriesOfMultistatus } from './folder-entries.ts';

const folder = new URL('https://h.io/pub%20lic/');
const html = (text: string) => entriesOfIndex(Buffer.from(text), 'text/html; charset=utf-8', folder);
const json = (value: unknown) =>
  entriesOfIndex(Buffer.from(JSON.stringify(value)), 'application/json', folder);

describe('an index page', () => {
  it('of nginx, Apache and others has the entries that its links name', () => {
    const page = `<a href="../">../</a><a href="?C=N;O=D">Name</a><A HREF='a%20b.txt'>a b</A> <a class=x href="/pub%20lic/d/">d</a>
      <a href="https://h.io/pub%20lic/c&amp;d.txt">c</a><a href="https://other.io/x">x</a><a href="/else/where">y</a><a href="d/deep">z</a>
      <a href="a%20b.txt">again</a><a href="mailto:me">m</a>`;
    expect(html(page)).toEqual([
      { name: 'a b.txt', isFolder: false },
      { name: 'd', isFolder: true },
      { name: 'c&d.txt', isFolder: false },
    ]);
  });

  it('may be the JSON of nginx or of Caddy', () => {
    expect(
      json([
        { name: 'a b.txt', type: 'file', size: 3 },
        { name: 'd', type: 'directory' },
        { name: 'e/', is_dir: true, size: 4096 },
      ]),
    ).toEqual([
      { name: 'a b.txt', size: 3, isFolder: false },
      { name: 'd', isFolder: true },
      { name: 'e', isFolder: true },
    ]);
  });

  it.each([{}, [{ name: '..', type: 'directory' }], [{ name: 'a/b' }], [{}], [null]])(
    'that is not one, or could lead elsewhere, is none: %j',
    (value) => expect(json(value)).toBeUndefined(),
  );

  it('is no file of another kind', () => {
    expect(entriesOfIndex(Buffer.from('<a href="x">'), 'text/plain', folder)).toBeUndefined();
  });
});

describe('the response to a PROPFIND', () => {
  it('has files with sizes and folders, whatever its namespace prefixes', () => {
    const response = (href: string, props: string) =>
      `<D:response><D:href>${href}</D:href><D:propstat><D:prop>${props}</D:prop></D:propstat></D:response>`;
    const text = `<?xml version="1.0"?><D:multistatus xmlns:D="DAV:">
      ${response('/pub%20lic/', '<D:resourcetype><D:collection/></D:resourcetype>')}
      ${response('/pub%20lic/a+b.txt', '<D:resourcetype/><D:getcontentlength>5</D:getcontentlength>')}
      ${response('https://h.io/pub%20lic/d', '<D:resourcetype><D:collection/></D:resourcetype>')}</D:multistatus>`;
    expect(entriesOfMultistatus(Buffer.from(text), folder)).toEqual([
      { name: 'a+b.txt', size: 5, isFolder: false },
      { name: 'd', isFolder: true },
    ]);
    expect(entriesOfMultistatus(Buffer.from('<html/>'), folder)).toBeUndefined();
  });
});
