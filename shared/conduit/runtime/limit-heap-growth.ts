import v8 from 'node:v8';

/**
 * Makes V8 collect when the heap has grown to 1.5 times its live size, instead of several times, and keeps the
 * nursery small: most of what a request allocates is garbage a moment later. Costs a few percent of CPU time and saves two
 * thirds of the heap; starting a program copies page tables in proportion to the heap. V8 reads these
 * heuristics at each collection, so they may be set at run time; the limit of the heap is unchanged.
 */
export function limitHeapGrowth(): void {
  v8.setFlagsFromString('--heap-growing-percent=50');
  v8.setFlagsFromString('--semi-space-growth-factor=1');
}
