import {
  forceTime,
  inputsKey,
  type Order,
  type OrderPlan,
  type PlanInputs,
  planOrder,
  type Settings,
} from '#shared/domain';

/** Artifacts whose plans are kept; those of Orders that are under way, mostly. */
const mostArtifacts = 20_000;

interface Known {
  of: string;
  plan: OrderPlan;
}

/** The plans of Orders that were asked for last: a plan hashes every artifact, and is asked for with each change of an Order. */
export class Plans {
  readonly #known = new Map<string, Known>();
  #artifacts = 0;

  planOf(order: Order, inputs: PlanInputs, settings: Settings): OrderPlan {
    const { uid = '', generation } = order.metadata;
    const of = `${generation} ${forceTime(order)} ${inputsKey(order, inputs, settings)}`;
    const known = this.#known.get(uid);
    if (known?.of === of) return known.plan;
    this.forget(uid);
    const plan = planOrder(order, inputs, settings);
    this.#known.set(uid, { of, plan });
    this.#artifacts += plan.artifacts.length;
    for (const oldest of this.#known.keys()) {
      if (this.#artifacts <= mostArtifacts || oldest === uid) break;
      this.forget(oldest);
    }
    return plan;
  }

  forget(uid: string): void {
    this.#artifacts -= this.#known.get(uid)?.plan.artifacts.length ?? 0;
    this.#known.delete(uid);
  }
}
