import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ArcServer, startArcServer } from './testing/arc-server.ts';

let server: ArcServer;
beforeAll(async () => {
  server = await startArcServer();
});
afterAll(() => server.close());

/** Creates an Order of so many artifacts of about 250 bytes each. */
function create(name: string, count: number) {
  return server.call('POST', '/apis/arc.opendefense.cloud/v1alpha1/namespaces/team/orders', {
    apiVersion: 'arc.opendefense.cloud/v1alpha1',
    kind: 'Order',
    metadata: { name },
    spec: {
      defaults: { srcRef: { name: 'source' }, dstRef: { name: 'destination' } },
      artifacts: Array.from({ length: count }, (_, index) => ({
        type: 'oci',
        spec: { image: `registry.example/${'team/'.repeat(37)}app-${index}:1.0` },
      })),
    },
  });
}

it('an Order of 5,000 artifacts that leaves no room for its status is refused, and says how many to move', async () => {
  const { status, body } = await create('large', 5_000);
  expect([status, body.reason]).toEqual([413, 'RequestEntityTooLarge']);
  expect(body.message).toMatch(
    new RegExp(
      '^orders "large" is too large: it takes 1\\.\\d MiB as stored and its status may grow to [\\d.]+ [KM]iB, ' +
        'together [\\d.]+ [KM]iB more than the limit of 1\\.5 MiB\\. Its first \\d+ artifacts fit: move the other \\d+ of 5000 to further Orders\\.$',
    ),
  );
  const [, fit = 0, rest = 0] = /first (\d+) .* other (\d+) of/.exec(body.message ?? '')?.map(Number) ?? [];
  expect(fit + rest).toBe(5_000);
  expect(fit).toBeGreaterThan(2_500);
  expect((await create('fits', fit)).status).toBe(201);
  expect((await create('exceeds', fit + 10)).status).toBe(413);
});
