import { describe, expect, it } from 'vitest';
import { parseManifests } from '../rbac/manifests.ts';
import { parseTriggers } from './trigger.ts';

const trigger = (spec: string) => `
apiVersion: eventing.knative.dev/v1
kind: Trigger
metadata: {name: t, namespace: ns}
spec: {broker: b, subscriber: {ref: {kind: Service, name: f}}, ${spec}}
`;
const broker = `
apiVersion: eventing.knative.dev/v1
kind: Broker
metadata: {name: b, namespace: ns}
spec: {delivery: {retry: 3, backoffPolicy: linear, backoffDelay: PT1S, timeout: PT5S}}
---
apiVersion: v1
kind: Service
metadata: {name: f}
`;

const triggersOf = (...texts: string[]) =>
  parseTriggers(texts.flatMap((text) => parseManifests(text, 'test.yaml')));

describe('parseTriggers', () => {
  it('reads filters, subscriber and delivery', () => {
    const [one] = triggersOf(
      trigger('filters: [{exact: {type: x}}], delivery: {retry: 2, deadLetterSink: {uri: "http://d/"}}'),
    );
    expect(one).toEqual({
      name: 't',
      namespace: 'ns',
      filters: [{ exact: { type: 'x' } }],
      subscriber: { ref: { kind: 'Service', name: 'f', namespace: 'ns' } },
      delivery: {
        retry: 2,
        backoffPolicy: 'exponential',
        backoffDelayMs: 200,
        timeoutMs: undefined,
        deadLetterSink: { uri: 'http://d/' },
      },
    });
  });

  it("takes the Broker's delivery when the Trigger has none", () => {
    const [one] = triggersOf(broker, trigger(''));
    expect(one?.delivery).toMatchObject({
      retry: 3,
      backoffPolicy: 'linear',
      backoffDelayMs: 1000,
      timeoutMs: 5000,
    });
  });

  it("replaces the Broker's delivery as a whole", () => {
    const [one] = triggersOf(broker, trigger('delivery: {deadLetterSink: {uri: "http://d/"}}'));
    expect(one?.delivery).toMatchObject({ retry: 0, timeoutMs: undefined });
  });

  it('has the defaults of a Knative installation where nothing is set', () => {
    expect(triggersOf(trigger(''))[0]?.delivery).toMatchObject({ retry: 10, backoffDelayMs: 200 });
  });

  it('reads the legacy filter, which filters override', () => {
    const legacy = 'filter: {attributes: {type: x, kind: ""}}';
    expect(triggersOf(trigger(legacy))[0]?.filters).toEqual([{ exact: { type: 'x' } }]);
    const both = triggersOf(trigger(`${legacy}, filters: [{prefix: {type: y}}]`));
    expect(both[0]?.filters).toEqual([{ prefix: { type: 'y' } }]);
  });

  it('names the object and field that is wrong', () => {
    expect(() => triggersOf(trigger('filters: [{cesql: "a = b"}]'))).toThrow(/Trigger t: spec\.filters\.0/);
    expect(() => triggersOf(trigger('delivery: {timeout: 5s}'))).toThrow(/spec\.delivery\.timeout/);
  });
});
