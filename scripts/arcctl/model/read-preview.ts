import { ArcError } from '#shared/base/errors';
import { readPlanInputs, settingsMap } from '#shared/conduit/function-kit';
import {
  type ArtifactWorkflow,
  artifactWorkflows,
  childSelector,
  configMaps,
  type Endpoint,
  labels,
  type Order,
  type PlanInputs,
  parseSettings,
  planOrder,
  type Settings,
} from '#shared/domain';
import type { Io } from '../core/io.ts';
import type { Cluster } from '../core/session.ts';
import { addSharedTargets, newTargets, type Outcome, previewOf } from './preview.ts';

/** Reads the inputs of a preview: the plan of an Order, its Endpoints, and other Orders with the same targets. */
export async function readPreview(
  io: Io,
  { api }: Pick<Cluster, 'api'>,
  order: Order,
): Promise<{ outcomes: Outcome[]; endpoints: readonly Endpoint[] }> {
  const { namespace = 'default' } = order.metadata;
  const [[inputs, settings], children] = await Promise.all([
    readInputs(io, api, order),
    api.list(artifactWorkflows, { namespace, labelSelector: childSelector(order) }, io.signal),
  ]);
  const plan = planOrder(order, inputs, settings);
  const outcomes = await addOtherOrders(io, api, order, previewOf(order, plan, children.items));
  return { outcomes, endpoints: inputs.endpoints };
}

async function readInputs(io: Io, api: Cluster['api'], order: Order): Promise<[PlanInputs, Settings]> {
  const settings = await readOperatorSettings(io, api);
  return [await readPlanInputs({ api, signal: io.signal }, order, settings), settings];
}

/** Maximum number of values of a selector in a URL. */
const placesAtOnce = 100;

/** Adds the other Orders of the namespace with the same targets. */
async function addOtherOrders(io: Io, api: Cluster['api'], order: Order, outcomes: readonly Outcome[]) {
  const { namespace = 'default' } = order.metadata;
  const others: ArtifactWorkflow[] = [];
  const places = newTargets(outcomes);
  for (let begin = 0; begin < places.length; begin += placesAtOnce) {
    const some = places.slice(begin, begin + placesAtOnce).join(',');
    const selection = { namespace, labelSelector: `${labels.target} in (${some})` };
    others.push(...(await api.list(artifactWorkflows, selection, io.signal)).items);
  }
  return addSharedTargets(order, outcomes, others);
}

/** Reads the operator's settings, which affect plans. Without permission, the plan is made without them, with a note. */
async function readOperatorSettings(io: Io, api: Cluster['api']): Promise<Settings> {
  try {
    const map = await api.get(configMaps, settingsMap, io.signal);
    return parseSettings(map?.data ?? {}, {}).settings;
  } catch (caught) {
    if (!ArcError.is(caught, 'Forbidden')) throw caught;
    io.note(`Without the operator's settings: ${caught.message}`);
    return {};
  }
}
