import type { AdmissionPlugin, AdmissionRequest, StoredObjects } from '#shared/apiserver';
import { group, type Settings } from '#shared/domain';
import { ArcError } from '#shared/errors';

/** An Order that was admitted holds its place for so long until it is stored; one that is not stored by then never will be. */
const placeMs = 10_000;

/**
 * Refuses an Order beyond the operator's `limits.ordersPerNamespace`. Within one server the limit is exact, however many are created at
 * a time: what was admitted and is not stored yet counts. Rejects with Forbidden, as a ResourceQuota does.
 */
export function orderQuota(
  stored: StoredObjects,
  settings: () => Settings,
  now: () => Date,
): AdmissionPlugin {
  /** By namespace, the names that were admitted and have not been seen in the store, with the time of it. */
  const admitted = new Map<string, Map<string, number>>();

  /** How many names were forgotten so far. */
  let forgotten = 0;

  /** Forgets those that are stored by now, or never will be. */
  const settle = async (namespace: string): Promise<void> => {
    const names = admitted.get(namespace) ?? new Map<string, number>();
    const oldest = now().getTime() - placeMs;
    for (const [name, at] of names) {
      const isStored = (await stored.get(group, 'orders', namespace, name)) !== undefined;
      if ((isStored || at < oldest) && names.delete(name)) forgotten += 1;
    }
    if (names.size === 0) admitted.delete(namespace);
  };

  /** True if there is a place, which `name` then has. Nothing may be awaited between the last look and the taking. */
  const take = async (namespace: string, name: string | undefined, most: number): Promise<boolean> => {
    for (;;) {
      await settle(namespace);
      const before = forgotten;
      const count = await stored.count(group, 'orders', namespace);
      // What was forgotten meanwhile, by another request, may be missing in the count: then look again.
      if (forgotten !== before) continue;
      const names = admitted.get(namespace) ?? new Map<string, number>();
      if (count + names.size < most) {
        if (name !== undefined) admitted.set(namespace, names.set(name, now().getTime()));
        return true;
      }
      if (count >= most) return false;
      // What was stored before the count was counted twice.
      await settle(namespace);
      if (forgotten === before) return false;
    }
  };

  return {
    name: 'OrderQuota',
    async validate({ operation, kind, subResource, namespace, name, dryRun }: AdmissionRequest) {
      const most = settings()['limits.ordersPerNamespace'];
      if (kind.group !== group || kind.kind !== 'Order' || subResource !== '') return;
      // It is in the store: from now on that counts it, or does not.
      if (operation === 'DELETE') admitted.get(namespace)?.delete(name);
      if (operation !== 'CREATE' || most === undefined) return;
      if (!(await take(namespace, dryRun ? undefined : name, most))) throw full(namespace, name, most);
    },
  };
}

function full(namespace: string, name: string, most: number): ArcError {
  const orders = most === 1 ? '1 Order' : `${most} Orders`;
  const message = `orders.${group} "${name}" is forbidden: a namespace may hold at most ${orders}, and "${namespace}" does: limits.ordersPerNamespace of the operator's settings`;
  return new ArcError('Forbidden', message, { details: { name, group, kind: 'orders' } });
}
