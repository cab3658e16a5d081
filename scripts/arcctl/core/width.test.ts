import { describe, expect, it } from 'vitest';
import { cutTo, padTo, widthOf } from './width.ts';

describe('the width of a text', () => {
  it.each([
    ['app', 3],
    ['', 0],
    ['größe', 5],
    ['├─ …', 4],
    ['日本語', 6],
    ['한국', 4],
    ['Ａ！', 4],
    ['e\u0301', 1],
    ['𠮷', 2],
    ['😀', 2],
    ['❤\ufe0f', 2],
  ])('%s takes %i columns', (text, columns) => {
    expect(widthOf(text)).toBe(columns);
  });

  it('is kept where a text is cut, and no character is halved', () => {
    expect([cutTo('abc', 2), cutTo('abc', -1), cutTo('日本語', 5), cutTo('a😀', 2), cutTo('日', 0)]).toEqual([
      ...['ab', '', '日本', 'a', ''],
    ]);
  });

  it('is what a column is filled up to', () => {
    expect([padTo('日本', 6), padTo('abc', 2)]).toEqual(['日本  ', 'abc']);
  });
});
