import { eachBounded } from '#shared/base/async';
import { ArcError } from '#shared/base/errors';
import { orders } from '#shared/domain';
import { namespace as demo } from '../../../scripts/demo/objects.ts';

const parallel = 16;

/** Works on all, some at a time. Rejects with the first failure. */
export async function each(
  names: readonly string[],
  work: (name: string) => Promise<unknown>,
): Promise<void> {
  const [first] = await eachBounded(names, parallel, async (name) => void (await work(name)));
  if (first !== undefined) throw ArcError.from(first.error);
}

interface Copies {
  type?: string;
  /** Default: that of the demo. */
  namespace?: string;
  image?: string;
}

/** An Order of so many copies of one image, between the Endpoints `source` and `destination`. */
export function orderOfCopies(
  name: string,
  artifacts: number,
  { type = 'oci', namespace = demo, image = 'team/app:1.0' }: Copies = {},
) {
  return {
    apiVersion: orders.apiVersion,
    kind: orders.kind,
    metadata: { name, namespace },
    spec: {
      defaults: { srcRef: { name: 'source' }, dstRef: { name: 'destination' } },
      artifacts: Array.from({ length: artifacts }, (_, index) => ({
        type,
        spec: { image, override: `${name}/copy-${index}:1.0` },
      })),
    },
  };
}
