/** Primitives for waiting: pause, backoff, deadline, queues, bounded parallel work. Imports only meta and errors. */
export { type Backoff, type BackoffOptions, backoffMs, createBackoff, doubled, jittered } from './backoff.ts';
export { Batches } from './batches.ts';
export { type Budgets, createBudgets, networkOf } from './budgets.ts';
export { type Clock, steadyClock, systemClock } from './clock.ts';
export { whenConnected } from './connected.ts';
export { type Deadline, startDeadline, within } from './deadline.ts';
export { DelayQueue } from './delay-queue.ts';
export { endOnAbort, failWhenCut } from './ended-requests.ts';
export { FairQueue, type Owner } from './fair-queue.ts';
export { ConnectTimeoutError, connectLimitMs, farConnectLimitMs, limitConnect } from './limit-connect.ts';
export { limitEmptyLines } from './limit-empty-lines.ts';
export { eachBounded, mapBounded } from './parallel.ts';
export { pause } from './pause.ts';
export { createSemaphore, type Semaphore } from './semaphore.ts';
export { SharedCapacity } from './shared-capacity.ts';
export { untilAborted } from './until-aborted.ts';
export { createWorkQueue, type WorkQueue, type WorkQueueOptions } from './work-queue.ts';
export { yieldToEventLoop } from './yield-to-event-loop.ts';
