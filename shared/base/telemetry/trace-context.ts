import { createHash } from 'node:crypto';

/** W3C Trace Context: propagated from a cause to its effects, so that a tracing system can join them. */
export interface TraceContext {
  /** `00-<trace-id>-<parent-id>-<flags>`. */
  traceparent: string;
  /** State of the tracing systems. */
  tracestate?: string;
}

/** Version 00, the only version; neither id is all zeros (section 3.2.2). */
const parent = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;
/** `key=value` (section 3.3.2; keys as level 2 has them). */
const member = /^([a-z0-9][a-z0-9_\-*/@]{0,255})=[ -+\--<>-~]{0,255}[!-+\--<>-~]$/;

/** The limits that every implementation must carry (section 3.3.1.5). */
const longestState = 512;
const mostMembers = 32;

/**
 * Reads the trace context from two headers or attributes, unchanged. Undefined if `traceparent` is malformed or has another
 * version. A `tracestate` that is malformed or longer than 512 characters is dropped.
 */
export function readTraceContext(traceparent: unknown, tracestate?: unknown): TraceContext | undefined {
  if (typeof traceparent !== 'string' || !parent.test(traceparent)) return undefined;
  return { traceparent, ...(isState(tracestate) && { tracestate }) };
}

function isState(value: unknown): value is string {
  if (typeof value !== 'string' || value.length > longestState) return false;
  // Members may be empty, and blanks may surround them.
  const members = value.split(/[ \t]*,[ \t]*/).filter((one) => one.trim() !== '');
  const keys = new Set(members.map((one) => member.exec(one.replace(/^[ \t]+|[ \t]+$/g, ''))?.[1]));
  const isWhole = !keys.has(undefined) && keys.size === members.length;
  return isWhole && members.length > 0 && members.length <= mostMembers;
}

/** True if the trace is recorded (section 3.2.2.5.1, the flag `sampled`). */
export function isSampled({ traceparent }: TraceContext): boolean {
  return (Number.parseInt(traceparent.slice(-2), 16) & 1) === 1;
}

/**
 * Starts an unsampled trace: the id is a hash of `cause`, which must be unique. Not random, so that a resent event stays in its trace.
 */
export function startTrace(cause: string): TraceContext {
  const digest = createHash('sha256').update(cause).digest('hex');
  return { traceparent: `00-${digest.slice(0, 32)}-${digest.slice(32, 48)}-00` };
}
