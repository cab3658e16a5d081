/** A broker with Knative's delivery rules, wired from Trigger manifests. */
export { type Broker, type BrokerOptions, startBroker } from './broker.ts';
export { type Delivery, type Destination, parseTriggers, type Trigger } from './trigger.ts';
