import type { ObjectMeta } from '#shared/base/meta';
import type { Condition } from './common.ts';
import type { ObjectOf } from './meta.ts';

/** The part of kueue.x-k8s.io Workload that is read: what Kueue decided about one pod. */
export type Workload = ObjectOf<'Workload', { status?: { conditions?: Array<Partial<Condition>> } }>;

/** visibility.kueue.x-k8s.io: what waits in a LocalQueue, in the order of the queue. */
export type PendingWorkloads = ObjectOf<
  'PendingWorkloadsSummary',
  { items?: Array<{ metadata: ObjectMeta; positionInLocalQueue?: number }> }
>;
