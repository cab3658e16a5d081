const block = 512;

function field(header: Buffer, text: string, offset: number): void {
  header.write(text, offset, 'ascii');
}

/** A POSIX tar (ustar) of one file with fixed times and owner: the same content gives the same bytes. */
export function tarOf(name: string, content: Buffer): Buffer {
  const header = Buffer.alloc(block);
  field(header, name.slice(0, 99), 0);
  field(header, '0000644\0', 100);
  field(header, '0000000\0', 108);
  field(header, '0000000\0', 116);
  field(header, `${content.length.toString(8).padStart(11, '0')}\0`, 124);
  field(header, '00000000000\0', 136);
  field(header, '        ', 148);
  field(header, '0', 156);
  field(header, 'ustar\x0000', 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  field(header, `${sum.toString(8).padStart(6, '0')}\0 `, 148);
  const padding = Buffer.alloc((block - (content.length % block)) % block);
  return Buffer.concat([header, content, padding, Buffer.alloc(2 * block)]);
}
