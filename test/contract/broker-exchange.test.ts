import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLogger } from '#shared/base/telemetry';
import { type Broker, parseTriggers, startBroker } from '#shared/local';
import { eventually } from '../../shared/base/testing/eventually.ts';
import {
  event,
  exchanges,
  outcomeOf,
  send,
  startSubscribers,
  triggersOf,
} from '../fixtures/knative/broker-exchanges.ts';

/** The list that test/cluster/broker-exchange.test.ts plays with Knative's own broker. */
describe('the embedded broker', () => {
  let subscribers: Awaited<ReturnType<typeof startSubscribers>>;
  let broker: Broker;

  beforeAll(async () => {
    subscribers = await startSubscribers();
    const manifests = exchanges.flatMap(triggersOf).map(({ name, type, subscriber, delivery }) => ({
      apiVersion: 'eventing.knative.dev/v1',
      kind: 'Trigger',
      metadata: { name, namespace: 'exchange' },
      spec: { broker: 'exchange', filters: [{ exact: { type } }], subscriber: { uri: subscriber }, delivery },
    }));
    broker = await startBroker({
      triggers: parseTriggers(manifests),
      resolve: ({ uri = '' }) => new URL(uri, subscribers.url),
      log: createLogger({ name: 'test', level: 'silent' }),
    });
    await Promise.all(exchanges.map((exchange) => send(exchange, broker.url.href)));
    await eventually('nothing to be under way', 20_000, () => expect(broker.depth()).toBe(0));
  });
  afterAll(async () => {
    await broker?.close();
    subscribers?.close();
  });

  it.each(exchanges.map((exchange) => [exchange.name, exchange] as const))(
    'does as Knative does: %s',
    (_, exchange) => {
      const { outcome, expected, seen, tooSoon } = outcomeOf(exchange, subscribers.taken);
      expect(outcome).toEqual(expected);
      expect(tooSoon).toEqual([]);
      expect(seen[0]).toMatchObject({ ...event(exchange), prefer: 'reply', ttl: undefined });
      for (const each of seen) expect(each).toMatchObject(event(exchange));
    },
  );
});
