import { describe, expect, it } from 'vitest';
import type { StoredItem } from '../interface/store.ts';
import { Items, type PastItem } from './items.ts';

const value = new Uint8Array();
const item = (key: string, revision: number): StoredItem => ({ key, value, revision });
const past = (key: string, revision: number): PastItem => ({ key, read: () => item(key, revision) });
const all = { prefix: '/', start: '', limit: undefined };

describe('Items', () => {
  it('applies puts and deletes', () => {
    const items = new Items([item('/a', 2), item('/b', 3)]);
    items.apply({ type: 'put', key: '/c', value, revision: 4, previous: undefined });
    items.apply({ type: 'put', key: '/a', value, revision: 5, previous: item('/a', 2) });
    items.apply({ type: 'delete', key: '/b', revision: 6, previous: item('/b', 3) });
    expect(items.page(all)).toEqual({ items: [item('/a', 5), item('/c', 4)], remaining: 0 });
    expect(items.get('/b')).toBeUndefined();
  });

  it('merges an overlay into its pages and counts', () => {
    const items = new Items([item('/b', 9), item('/d', 4), item('/f', 8)]);
    const overlay = new Map([
      ['/a', past('/a', 2)],
      ['/b', past('/b', 3)],
      ['/f', undefined],
      ['/z', past('/z', 5)],
      ['other', past('other', 6)],
    ]);
    const then = [item('/a', 2), item('/b', 3), item('/d', 4), item('/z', 5)];
    expect(items.page(all, overlay)).toEqual({ items: then, remaining: 0 });
    expect(items.page({ ...all, limit: 1 }, overlay)).toEqual({ items: then.slice(0, 1), remaining: 3 });
    const later = { ...all, start: '/c', limit: 1 };
    expect(items.page(later, overlay)).toEqual({ items: then.slice(2, 3), remaining: 1 });
  });

  it('reads only the past items of the page', () => {
    const items = new Items([item('/b', 9)]);
    const unread: PastItem = { key: '/c', read: () => expect.fail('read without need') };
    const overlay = new Map([
      ['/a', past('/a', 2)],
      ['/c', unread],
    ]);
    expect(items.page({ ...all, limit: 2 }, overlay).items).toEqual([item('/a', 2), item('/b', 9)]);
  });

  it('counts the items after a full page, and never below zero for a start behind the prefix', () => {
    const items = new Items([item('/a/1', 2), item('/a/2', 3), item('/b/1', 4)]);
    expect(items.page({ prefix: '/a/', start: '', limit: 1 })).toEqual({
      items: [item('/a/1', 2)],
      remaining: 1,
    });
    expect(items.page({ prefix: '/a/', start: '/b/', limit: 1 })).toEqual({ items: [], remaining: 0 });
  });
});
