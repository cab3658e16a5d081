import { describe, expect, it } from 'vitest';
import { untilMark } from './until-mark.ts';

const mark = 'abc';
/** What becomes of a stream that comes in these chunks. */
function follow(chunks: readonly string[]) {
  let text = '';
  let strays = 0;
  const codes: number[] = [];
  const input = untilMark({
    mark,
    take: (chunk) => {
      text += chunk.toString();
    },
    end: (code) => codes.push(code),
    stray: () => {
      strays += 1;
    },
  });
  for (const chunk of chunks) input(Buffer.from(chunk));
  return { text, codes, strays };
}

describe('a stream with the mark of the end of a run', () => {
  it('is passed on up to the mark, wherever it is cut', () => {
    const whole = 'one\ntwo \0 three\n\0abc 15\n';
    const expected = { text: 'one\ntwo \0 three\n', codes: [15], strays: 0 };
    expect(follow([...whole])).toEqual(expected);
    for (let at = 0; at < whole.length; at += 1)
      expect(follow([whole.slice(0, at), whole.slice(at)])).toEqual(expected);
  });

  it('holds nothing back that cannot begin the mark', () => {
    expect(follow(['half a line']).text).toBe('half a line');
    expect(follow(['\0 and more than it']).text).toBe('\0 and more than it');
    expect(follow(['x\0ab']).text).toBe('x');
    expect(follow(['x\0ab', 'd\n']).text).toBe('x\0abd\n');
  });

  it('takes no other mark for its own', () => {
    expect(follow(['\0abd 0\n', '\nabc 0\n'])).toEqual({ text: '\0abd 0\n\nabc 0\n', codes: [], strays: 0 });
  });

  it('tells what comes after it, in the same chunk or later', () => {
    expect(follow(['\0abc 0\nlate'])).toEqual({ text: '', codes: [0], strays: 1 });
    expect(follow(['\0abc 0\n', 'late'])).toEqual({ text: '', codes: [0], strays: 1 });
  });
});
