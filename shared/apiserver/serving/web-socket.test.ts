import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { acceptOf, FrameReader, frame, opcode } from './web-socket.ts';

/** As a client sends it: masked, data in frames of any length. */
function masked(code: number, payload: Uint8Array, mask: Uint8Array): Buffer {
  const bytes = frame(code, payload);
  const at = bytes.byteLength - payload.byteLength;
  bytes.writeUInt8(bytes.readUInt8(1) | 0x80, 1);
  const hidden = payload.map((byte, index) => byte ^ (mask[index % 4] ?? 0));
  return Buffer.concat([bytes.subarray(0, at), mask, hidden]);
}

describe('acceptOf', () => {
  it('answers the key of RFC 6455, section 1.3, as it says', () => {
    expect(acceptOf('dGhlIHNhbXBsZSBub25jZQ==')).toBe('s3pPLMBiTxaQ9kYGzzhZRbK+xOo=');
  });
});

describe('frame', () => {
  it.each([
    [0, [0x81, 0]],
    [125, [0x81, 125]],
    [126, [0x81, 126, 0, 126]],
    [65_535, [0x81, 126, 0xff, 0xff]],
    [65_536, [0x81, 127, 0, 0, 0, 0, 0, 1, 0, 0]],
  ])('writes a length of %i in the shortest form', (length, head) => {
    const bytes = frame(opcode.text, Buffer.alloc(length, 7));
    expect([...bytes.subarray(0, head.length)]).toEqual(head);
    expect(bytes.byteLength).toBe(head.length + length);
  });
});

describe('FrameReader', () => {
  const control = fc.record({
    code: fc.constantFrom(opcode.close, opcode.ping, opcode.pong),
    payload: fc.uint8Array({ maxLength: 125 }),
  });
  const data = fc.record({
    code: fc.constantFrom(0, opcode.text, 2),
    payload: fc.oneof(fc.uint8Array({ maxLength: 300 }), fc.constant(new Uint8Array(70_000))),
  });
  const mask = fc.uint8Array({ minLength: 4, maxLength: 4 });

  it('hands on control frames and reads past data, however the bytes are cut', () => {
    const frames = fc.array(fc.tuple(fc.oneof(control, data), mask), { maxLength: 8 });
    fc.assert(
      fc.property(frames, fc.infiniteStream(fc.integer({ min: 1, max: 5_000 })), (sent, cuts) => {
        const bytes = Buffer.concat(sent.map(([{ code, payload }, key]) => masked(code, payload, key)));
        const read: [number, number[]][] = [];
        const reader = new FrameReader((code, payload) => read.push([code, [...payload]]));
        for (let from = 0; from < bytes.byteLength; ) {
          const to = from + (cuts.next().value ?? 1);
          reader.push(bytes.subarray(from, to));
          from = to;
        }
        const controls = sent.map(([each]) => each).filter(({ code }) => code >= opcode.close);
        expect(read).toEqual(controls.map(({ code, payload }) => [code, [...payload]]));
      }),
    );
  });

  it.each([
    ['unmasked', [0x89, 0x00]],
    ['of an extension', [0xc9, 0x80, 0, 0, 0, 0]],
    ['a fragmented ping', [0x09, 0x80, 0, 0, 0, 0]],
    ['a long ping', [0x89, 0xfe, 0, 126, 0, 0, 0, 0]],
  ])('refuses a frame that is %s', (_, bytes) => {
    const reader = new FrameReader(() => undefined);
    expect(() => reader.push(Buffer.from(bytes))).toThrow('not a WebSocket frame of a client');
  });
});
