import { ArcError } from '#shared/base/errors';

/** A request that has or waits for a slot. */
export interface SlotRequest {
  /** Resolves when the request gets its slot. Rejects with TooManyRequests on timeout, or if the request is dropped from a long queue. */
  ready: Promise<void>;
  /** Releases the slot, or leaves the queue. Idempotent. */
  leave(): void;
}

export interface Slots {
  /** Takes a slot for a flow, or enqueues the request. Throws TooManyRequests if the queue of the flow is full. */
  enter(flow: string): SlotRequest;
  readonly running: number;
  readonly waiting: number;
}

/** A flow gets at most this fraction of the slots: one in 16. */
const maxFraction = 1 / 16;
/** Length limit of the queue of a flow, as a multiple of its slots. */
const queueLengthPerSlot = 8;
/** Length limit of all queues together, as a multiple of all slots. */
const totalLengthPerSlot = 4;

interface Flow {
  running: number;
  queue: Set<QueuedRequest>;
}

interface QueuedRequest {
  start(): void;
  refuse(error: ArcError): void;
}

/**
 * Shares `limit` slots between flows like API Priority and Fairness: a flow runs at most a sixteenth of them, further requests wait in its
 * own queue, and free slots are assigned to the queues round-robin. A flow is therefore not delayed by the queues of others.
 */
export function fairSlots(limit: number, refuse: Refuse, maxWaitMs = 15_000): Slots {
  const share = Math.ceil(limit * maxFraction);
  const flows = new Map<string, Flow>();
  /** Flows with queued requests, in round-robin order. */
  const waitingFlows = new Set<Flow>();
  let running = 0;
  let waiting = 0;

  const dequeue = (flow: Flow, request: QueuedRequest) => {
    if (!flow.queue.delete(request)) return;
    waiting -= 1;
    if (flow.queue.size === 0) waitingFlows.delete(flow);
  };
  /** Starts queued requests while slots are free. Skips flows that use their share. */
  const dispatch = () => {
    for (const flow of waitingFlows) {
      if (running >= limit) return;
      const [next] = flow.queue;
      if (flow.running >= share || !next) continue;
      dequeue(flow, next);
      if (waitingFlows.delete(flow)) waitingFlows.add(flow); // to the end of the round
      flow.running += 1;
      running += 1;
      next.start();
    }
  };
  /** Drops the last request of the longest queue if too many requests are queued in total. */
  const dropExcess = () => {
    if (waiting <= limit * totalLengthPerSlot) return;
    const longest = [...waitingFlows].reduce((a, b) => (b.queue.size > a.queue.size ? b : a));
    const last = [...longest.queue].at(-1);
    last?.refuse(refuse('queue-full', `${waiting} requests are queued, most of them from this user`));
  };

  return {
    get running() {
      return running;
    },
    get waiting() {
      return waiting;
    },
    enter(name) {
      const flow = flows.get(name) ?? { running: 0, queue: new Set() };
      if (flow.queue.size >= share * queueLengthPerSlot)
        throw refuse('queue-full', `${flow.queue.size} requests of this user are queued`);
      flows.set(name, flow);
      const { promise: ready, resolve, reject } = Promise.withResolvers<void>();
      let timer: NodeJS.Timeout | undefined;
      let state: 'waiting' | 'running' | 'ended' = 'waiting';
      const end = () => {
        clearTimeout(timer);
        state = 'ended';
        if (flow.running === 0 && flow.queue.size === 0) flows.delete(name);
      };
      const request: QueuedRequest = {
        start() {
          clearTimeout(timer);
          state = 'running';
          resolve();
        },
        refuse(error) {
          dequeue(flow, request);
          end();
          reject(error);
        },
      };
      flow.queue.add(request);
      waitingFlows.add(flow);
      waiting += 1;
      dispatch();
      if (flow.queue.has(request)) {
        const timeOut = () =>
          request.refuse(refuse('time-out', `the request was queued for ${maxWaitMs / 1000} seconds`));
        timer = setTimeout(timeOut, maxWaitMs).unref();
        dropExcess();
      }
      return {
        ready,
        leave() {
          if (state === 'waiting')
            request.refuse(
              new ArcError('BadRequest', 'the client disconnected while the request was queued'),
            );
          if (state !== 'running') return;
          flow.running -= 1;
          running -= 1;
          end();
          dispatch();
        },
      };
    },
  };
}

/** The exceeded limit, as a metric label. The first two are labels of API Priority and Fairness. */
export type RefusalReason = 'queue-full' | 'time-out' | 'requests' | 'watches' | 'connections' | 'body-bytes';

/** Counts a refused request and returns its error. `why` describes the exceeded limit to the user. */
export type Refuse = (reason: RefusalReason, why: string) => ArcError;

export function refusals(count: (reason: RefusalReason) => void): Refuse {
  return (reason, why) => {
    count(reason);
    return new ArcError('TooManyRequests', `Too many requests, please try again later: ${why}.`, {
      details: { retryAfterSeconds: 1 },
    });
  };
}
