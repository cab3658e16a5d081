import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runs } from '#shared/base/testing';
import { arcKinds } from '#shared/domain';
import {
  kinds,
  startTestServer,
  type TestServer,
} from '../../shared/kubernetes/apiserver/testing/test-server.ts';
import { baseObjects, type Growing, growingInputs } from './growing-input.ts';

/** So much CPU time, in ms, says nothing: a collection of garbage may fall into it. */
const shortMs = 40;
/** The larger input is so many times the smaller one. */
const growth = 4;
/** Linear work grows as the input; twice that is left to noise. Quadratic work grows by the square of `growth`. */
const mostGrowth = 2 * growth;
const attempts = 4;

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ kinds: [...kinds, ...arcKinds] });
  for (const { path, object } of baseObjects())
    expect((await server.call('POST', path, object)).status).toBe(201);
});
afterAll(() => server.close());

/** CPU time of this thread, in ms, from the request to its answer. */
async function cost({ request }: Growing, size: number): Promise<number> {
  const { method, path, body, type } = request(size);
  const before = process.threadCpuUsage();
  const answer = await server.call(method, path, body, type === undefined ? {} : { 'content-type': type });
  const { user, system } = process.threadCpuUsage(before);
  expect(answer.status).toBeLessThan(500);
  return (user + system) / 1000;
}

/** The growth of the costs if it is too steep in every attempt, each of which takes the cheapest seen so far. */
async function tooSteep(input: Growing): Promise<number | undefined> {
  let [small, large] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    large = Math.min(large, await cost(input, input.size));
    if (large <= shortMs) return undefined;
    small = Math.min(small, await cost(input, input.size / growth));
    if (large <= mostGrowth * small + shortMs) return undefined;
  }
  return large / small;
}

describe('a request', () => {
  const inputs = growingInputs(runs(1) > 1);

  it('takes time in proportion to its length, whatever grows in it', { timeout: 600_000 }, async () => {
    expect(inputs.length).toBeGreaterThan(150);
    const steep: string[] = [];
    for (const input of inputs) {
      const factor = await tooSteep(input);
      if (factor !== undefined)
        steep.push(`${input.name}: ${factor.toFixed(1)} times for ${growth} times the input`);
    }
    expect(steep).toEqual([]);
  });
});
