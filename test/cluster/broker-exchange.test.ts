import { access } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ControlPlane, hostAddress, startControlPlane } from '../fixtures/cluster/control-plane.ts';
import { type KnativeBroker, knativePrograms, startKnativeBroker } from '../fixtures/knative/broker.ts';
import {
  event,
  exchanges,
  outcomeOf,
  send,
  startSubscribers,
  triggersOf,
} from '../fixtures/knative/broker-exchanges.ts';

const assets = process.env.KUBEBUILDER_ASSETS ?? '';
const host = hostAddress();
const found = await Promise.allSettled(knativePrograms.map((name) => access(path.join(assets, name))));
const areThere = found.every(({ status }) => status === 'fulfilled');
if (process.env.CI && !areThere)
  throw new Error(`build ${knativePrograms.join(', ')} of knative.dev/eventing into KUBEBUILDER_ASSETS`);
if (!areThere)
  console.warn(`no ${knativePrograms.join(', ')} in KUBEBUILDER_ASSETS: Knative's broker is left out`);

/** The list that test/contract/broker-exchange.test.ts plays with the embedded broker. */
describe.skipIf(!areThere || !host)("Knative's broker and in-memory channel", () => {
  let plane: ControlPlane;
  let broker: KnativeBroker;
  let subscribers: Awaited<ReturnType<typeof startSubscribers>>;

  beforeAll(async () => {
    plane = await startControlPlane(assets, host ?? '');
    subscribers = await startSubscribers();
    const absolute = (place: string) => `${subscribers.url}/${place}`;
    const triggers = exchanges.flatMap(triggersOf).map(({ subscriber, delivery, ...rest }) => ({
      ...rest,
      subscriber: absolute(subscriber),
      delivery: delivery.deadLetterSink
        ? { ...delivery, deadLetterSink: { uri: absolute(delivery.deadLetterSink.uri) } }
        : delivery,
    }));
    broker = await startKnativeBroker(assets, plane, triggers);
    // Answered when everything is over. One after the other: the channel asks the filter of every Trigger about every event, and the
    // short timeout of one of them would be another's dead letter on a busy machine.
    for (const exchange of exchanges) await send(exchange, broker.url);
  }, 240_000);
  afterAll(async () => {
    await broker?.stop();
    await plane?.stop();
    subscribers?.close();
  }, 60_000);

  it.each(exchanges.map((exchange) => [exchange.name, exchange] as const))(
    'does as listed: %s',
    (_, exchange) => {
      const { outcome, expected, seen, tooSoon } = outcomeOf(exchange, subscribers.taken);
      const { deadAtKnative } = exchange.expected;
      expect(outcome).toEqual({ ...expected, ...(deadAtKnative && { dead: deadAtKnative }) });
      expect(tooSoon).toEqual([]);
      expect(seen[0]).toMatchObject({ ...event(exchange), prefer: 'reply', ttl: undefined });
      for (const each of seen) expect(each).toMatchObject(event(exchange));
    },
  );
});
