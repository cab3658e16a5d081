import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Order } from '#shared/domain';
import type { View } from '../../scripts/arcctl/console/api.ts';
import { orderRow } from '../../scripts/arcctl/console/server/views/orders.ts';
import { order } from '../../shared/domain/testing/objects.ts';
import { type Held, hasBrowser, heldBy, openBrowser } from '../fixtures/browser.ts';
import { serveFast } from '../fixtures/standalone/fast-page.ts';

/** The engine compiles and caches until then: 1 MiB, which 10,800 updates do not exceed. */
const warm = 1_000;
/** A page is drawn at most twice a second: half an hour of it, and ARC_RUNS times as much. */
const updates = 3_600 * Number(process.env.ARC_RUNS ?? 1);

describe.skipIf(!hasBrowser)('a page that is looked at for long', { timeout: 600_000 }, () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser?.close());

  it(`holds no more after ${updates} updates than after ${warm}`, async () => {
    const [few, many] = [await heldAfter(warm), await heldAfter(updates)];
    console.log(JSON.stringify({ updates, few, many }));
    expect(many.heapBytes - few.heapBytes).toBeLessThan(1024 * 1024);
    expect(many.nodes).toBeLessThan(few.nodes * 1.5);
    expect(many.listeners).toBeLessThanOrEqual(few.listeners);
  });

  async function heldAfter(count: number): Promise<Held> {
    await using served = await serveFast(viewAt, count);
    const page = await browser.newPage();
    await page.goto(served.url);
    await page.getByText(`update ${count}`, { exact: true }).first().waitFor({ timeout: 600_000 });
    const held = await heldBy(page);
    await page.close();
    return held;
  }
});

function viewAt(update: number): View {
  return { values: {}, lists: { orders: ordersAt(update).map(orderRow) } };
}

/** Fifty Orders whose status changes with each update; every third time a new one comes and the oldest goes. */
function ordersAt(update: number): Order[] {
  return Array.from({ length: 50 }, (_, index): Order => {
    const number = Math.floor(update / 3) + index;
    const made = order(`order-${number}`, ['a:1']);
    const phase = (update + index) % 2 === 0 ? 'Running' : 'Succeeded';
    const creationTimestamp = new Date(number * 1000).toISOString();
    const metadata = { ...made.metadata, uid: `uid-${number}`, creationTimestamp };
    return { ...made, metadata, status: { phase, message: `update ${update}` } };
  });
}
