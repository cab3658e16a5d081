import { artifactWorkflows, isDeleting, type Order, orders } from '#shared/domain';
import type { FakeApi } from '../../../shared/kubernetes/client/testing/fake-api/fake-api.ts';
import { type Argo, digestOf } from './argo.ts';

/** What is there, and the Orders that were. */
interface World {
  kube: FakeApi;
  argo: Argo;
  former: readonly Order[];
}

/**
 * What an Order says has arrived, and the registry does not hold, once its status is about its present generation. Of several Orders with one
 * place, the registry holds what one of them says, or said before it went: an Event tells of that.
 */
export function liesOf({ kube, argo, former }: World, order: Order, when = ''): string[] {
  const { observedGeneration, artifactWorkflows: entries = {} } = order.status ?? {};
  if (observedGeneration !== order.metadata.generation || isDeleting(order)) return [];
  const rivals = [...kube.all(orders), ...former].filter(
    ({ metadata }) => metadata.name !== order.metadata.name,
  );
  return Object.entries(entries).flatMap(([key, { artifactIndex, phase, digest }]) => {
    if (phase !== 'Succeeded' && phase !== 'Active') return [];
    const spec = order.spec.artifacts?.[artifactIndex]?.spec;
    const image = String(spec?.image);
    const place = placeOf(spec);
    const made = kube.all(artifactWorkflows).find(({ metadata }) => metadata.name.endsWith(key));
    const server = made?.spec.parameters?.find(({ name }) => name === 'dstRemoteURL')?.value ?? '';
    const held = [...argo.registry].filter(([at]) => at.startsWith(server) && at.endsWith(`/${place}`));
    const claims = rivals
      .flatMap((one) => one.spec.artifacts ?? [])
      .filter((artifact) => placeOf(artifact.spec) === place)
      .map((artifact) => digestOf(String(artifact.spec?.image)));
    const isHeld = held.some(([, now]) => now === digestOf(image) || claims.includes(now));
    // A schedule says what its last run has brought, and nothing before that.
    const isTrue = isHeld || (phase === 'Active' && when !== '');
    return [
      ...(digest === undefined || digest === digestOf(image)
        ? []
        : [`${when}${place}: the digest is of another image`]),
      ...(isTrue ? [] : [`${when}${place} holds ${held}, and the Order says ${digestOf(image)} (${image})`]),
    ];
  });
}

export function placeOf(spec: Record<string, unknown> = {}): string {
  return String(spec.override ?? spec.image);
}
