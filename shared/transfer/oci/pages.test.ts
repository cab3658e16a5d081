import { describe, expect, it } from 'vitest';
import { readPages, stringsIn } from './pages.ts';
import type { RegistryClient } from './registry-client.ts';

const { signal } = new AbortController();
const list = {
  target: '/v2/team/app/tags/list',
  origin: 'https://r.io',
  expect: [200],
  activity: 'listing the tags',
  what: 'tags in repository team/app',
  namesIn: ({ bytes }: { bytes: Buffer | undefined }) => stringsIn(bytes, 'tags') ?? [],
};

/** A registry with this page at each number, and a next one after all but the last. */
function registry(pages: number, page: (number: number) => string[]): RegistryClient {
  return async ({ target }) => {
    const url = new URL(target, list.origin);
    const number = Number(url.searchParams.get('page') ?? 0);
    const more = number + 1 < pages;
    return {
      status: 200,
      headers: more ? { link: `<?page=${number + 1}>; rel="next"` } : {},
      url,
      quotable: true,
      bytes: Buffer.from(JSON.stringify({ tags: page(number) })),
      stream: process.stdin,
    };
  };
}

const names = (size: number) => (number: number) =>
  Array.from({ length: size }, (_, index) => `v${number * size + index}`);

describe('a paginated list', () => {
  it('is read completely if a page has 100 names', async () => {
    expect(await readPages(list, registry(500, names(100)), signal)).toHaveLength(50_000);
  });

  it('continues after empty pages', async () => {
    const sparse = registry(20, (number) => (number % 10 === 9 ? [`v${number}`] : []));
    expect(await readPages(list, sparse, signal)).toEqual(['v9', 'v19']);
  });

  it('ends with more than 100,000 names', async () => {
    await expect(readPages(list, registry(Infinity, names(1000)), signal)).rejects.toThrow(
      'There are more than 100000 tags in repository team/app.',
    );
  });

  it.each([[[]], [['v1']]])('ends if page after page brings %j', async (page) => {
    await expect(
      readPages(
        list,
        registry(Infinity, () => page),
        signal,
      ),
    ).rejects.toThrow('more than 100 pages without a new entry while listing the tags');
  });
});
