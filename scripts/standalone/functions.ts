import type { Fn } from '#shared/conduit/runtime';
import * as decomposeOrder from '../../functions/decompose-order/index.ts';
import * as expireObjects from '../../functions/expire-objects/index.ts';
import * as probeEndpoint from '../../functions/probe-endpoint/index.ts';
import * as renderSecret from '../../functions/render-secret/index.ts';
import * as reportDeadLetter from '../../functions/report-dead-letter/index.ts';
import * as rollUpOrder from '../../functions/roll-up-order/index.ts';
import * as submitWorkflow from '../../functions/submit-workflow/index.ts';
import * as syncStatus from '../../functions/sync-status/index.ts';
import * as trackCredentials from '../../functions/track-credentials/index.ts';

/** All event-driven functions, by the name of their folder, Knative Service and ServiceAccount. */
export const functions: Readonly<Record<string, Fn>> = {
  'decompose-order': decomposeOrder,
  'expire-objects': expireObjects,
  'track-credentials': trackCredentials,
  'probe-endpoint': probeEndpoint,
  'render-secret': renderSecret,
  'submit-workflow': submitWorkflow,
  'sync-status': syncStatus,
  'roll-up-order': rollUpOrder,
  'report-dead-letter': reportDeadLetter,
};
