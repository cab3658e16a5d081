import { orders } from '#shared/domain';

/** The `source` of every event of the conduit: a URI reference that no restart changes. */
export const eventSource = `/apis/${orders.apiVersion}`;
