import {
  forceTime,
  inputsKey,
  type Order,
  type OrderPlan,
  type PlanInputs,
  planOrder,
  type Settings,
} from '#shared/domain';

/** Artifacts whose plans are cached: mostly those of Orders that are under way. */
const mostArtifacts = 20_000;

interface Known {
  of: string;
  /** The Order, and the version of every other input, that the plan was made from. */
  order: Order;
  version: number;
  plan: OrderPlan;
}

/** A cache of recent plans: a plan hashes every artifact, and every change of an Order needs the plan. */
export class Plans {
  readonly #known = new Map<string, Known>();
  #artifacts = 0;

  /**
   * Returns the plan of an Order. Comparing the inputs takes time proportional to the artifacts, so they are read only after a change.
   *
   * @param version of the inputs and settings
   */
  planOf(order: Order, version: number, read: () => PlanInputs, settings: Settings): OrderPlan {
    const { uid = '', generation } = order.metadata;
    const known = this.#known.get(uid);
    if (known?.order === order && known.version === version) return known.plan;
    const inputs = read();
    const of = `${generation} ${forceTime(order)} ${inputsKey(order, inputs, settings)}`;
    if (known?.of === of) {
      Object.assign(known, { order, version });
      return known.plan;
    }
    this.forget(uid);
    const plan = planOrder(order, inputs, settings);
    this.#known.set(uid, { of, order, version, plan });
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
