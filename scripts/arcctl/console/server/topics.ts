import type { Context } from 'hono';
import type { Key } from '#shared/kubernetes/client';
import { createPace } from '../../model/pace.ts';
import type { Watches } from '../model/watches.ts';
import type { Topic } from './live.ts';
import { endpointEvents, endpointRows } from './views/endpoints.ts';
import { eventRows } from './views/events.ts';
import { orderView } from './views/order.ts';
import { orderRow } from './views/orders.ts';
import { bundleRows, overviewView, typeRows } from './views/others.ts';

const namespaceTypes = ['artifactTypes', 'clusterArtifactTypes'] as const;

/** Returns the topics by their path; `/orders/:namespace/:name` is the only one with parameters. */
export function createTopics(
  watches: Watches,
  keyOfPath: (c: Context) => Required<Key>,
): Record<string, Topic> {
  const { orders, artifactWorkflows, endpoints, events } = watches;
  const types = () => [...watches.artifactTypes.values(), ...watches.clusterArtifactTypes.values()];
  return {
    /** Only heartbeats, for pages without live data. */
    pulse: { kinds: [], open: () => () => ({ values: {}, lists: {} }) },
    overview: {
      kinds: ['orders', 'artifactWorkflows', 'endpoints'],
      open: () => () => overviewView(watches),
    },
    orders: {
      kinds: ['orders'],
      open: () => () => ({ values: {}, lists: { orders: orders.values().map(orderRow) } }),
    },
    'orders/:namespace/:name': {
      kinds: ['orders', 'artifactWorkflows', 'events'],
      open(c) {
        const [key, paces] = [keyOfPath(c), createPace()];
        return () => orderView(watches, key, paces);
      },
    },
    endpoints: {
      kinds: ['endpoints', 'orders', 'events'],
      open: () => () => ({
        values: {},
        lists: {
          endpoints: endpointRows(endpoints.values(), orders.values()),
          events: endpointEvents(events.values()),
        },
      }),
    },
    types: {
      kinds: [...namespaceTypes, 'orders'],
      open: () => () => ({ values: {}, lists: { types: typeRows(types(), orders.values()) } }),
    },
    bundles: {
      kinds: ['artifactWorkflows', 'endpoints', 'orders'],
      open: () => () => ({
        values: {},
        lists: {
          bundles: bundleRows(artifactWorkflows.values()),
          endpoints: endpointRows(
            endpoints.values().filter(({ spec }) => spec.type === 'bundle'),
            orders.values(),
          ),
        },
      }),
    },
    events: {
      kinds: ['events'],
      open: () => () => ({ values: {}, lists: { events: eventRows(events.values()) } }),
    },
    /** The types and Endpoints for a new Order. */
    new: {
      kinds: ['endpoints', ...namespaceTypes],
      open: () => () => ({
        values: {},
        lists: { endpoints: endpointRows(endpoints.values(), []), types: typeRows(types(), []) },
      }),
    },
  };
}
