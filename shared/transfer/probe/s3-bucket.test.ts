import { describe, expect, it } from 'vitest';
import { bucketRegion, getInRegion } from './s3-bucket.ts';

/** Asks a bucket of AWS in eu-central-1, and tells at which hosts. */
async function asked(remoteURL: string, url: string) {
  const hosts: string[] = [];
  const found = await getInRegion(remoteURL, new URL(url), async ({ host }) => {
    hosts.push(host);
    return { status: host.includes('eu-central-1') ? 403 : 301, region: 'eu-central-1' };
  });
  return { hosts, status: found.answer.status, host: found.url.host };
}

describe('a bucket of s3://', () => {
  it.each([
    ['s3://releases/air-gap', 'https://releases.s3.us-east-1.amazonaws.com/', 'releases.'],
    ['s3://releases.example', 'https://s3.us-east-1.amazonaws.com/releases.example', ''],
  ])('in another region is asked there: %s', async (remoteURL, url, bucket) => {
    const there = `${bucket}s3.eu-central-1.amazonaws.com`;
    const { hosts, status, host } = await asked(remoteURL, url);
    expect(hosts).toEqual([new URL(url).host, there]);
    expect([status, host]).toEqual([403, there]);
  });

  it('in the region that was asked is asked once, as is one whose host the Endpoint names', async () => {
    const there = await asked('s3://releases', 'https://releases.s3.eu-central-1.amazonaws.com/');
    expect(there.hosts).toHaveLength(1);
    const named = 'https://releases.s3.us-east-1.amazonaws.com/';
    expect((await asked(named, named)).hosts).toHaveLength(1);
  });

  it('stays where the answer names no region of AWS', async () => {
    const url = new URL('https://releases.s3.us-east-1.amazonaws.com/');
    for (const region of [undefined, 'nowhere', 'evil.example.com#']) {
      const answer = { region: bucketRegion(region === undefined ? {} : { 'x-amz-bucket-region': region }) };
      expect((await getInRegion('s3://releases', url, async () => answer)).url.host).toBe(url.host);
    }
  });
});
