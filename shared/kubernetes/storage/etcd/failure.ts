import { ArcError, type Code } from '#shared/base/errors';
import { etcdRequestBytes } from '#shared/base/meta';

/** A classified failure of a call. */
export interface Failure {
  error: ArcError;
  /** True: the write was definitely not applied and never will be. */
  notApplied: boolean;
  /** True: the request was not sent. */
  unsent: boolean;
  /** True: a read may be retried. */
  retryable: boolean;
}

/** Error messages of etcd (api/v3rpc/rpctypes/error.go), which are more specific than their gRPC codes. */
const knownErrors: { text: RegExp; code: Code; message?: string }[] = [
  { text: /required revision has been compacted/, code: 'Expired', message: 'the revision is compacted' },
  {
    text: /required revision is a future revision/,
    code: 'Timeout',
    message: 'the revision is in the future',
  },
  {
    text: /request is too large|message larger than max/,
    code: 'RequestEntityTooLarge',
    message: `the object exceeds the request limit of this etcd: start etcd with --max-request-bytes=${etcdRequestBytes}, which is its default`,
  },
  {
    // MySQL and MariaDB with kine, whose key column is ASCII.
    text: /Illegal mix of collations|Incorrect string value/,
    code: 'BadRequest',
    message: 'this store supports only ASCII keys',
  },
  {
    text: /database space exceeded/,
    code: 'ServiceUnavailable',
    message:
      'etcd is out of space and refuses writes: compact and defragment it, then disarm the NOSPACE alarm',
  },
];

/** gRPC codes: invalid argument, permission denied, failed precondition, out of range, unimplemented, unauthenticated. */
const refusals = [3, 7, 9, 11, 12, 16];
/** Error messages of grpc-js for calls without a connection. */
const unsentPattern = /No connection established|Channel closed before call started|Name resolution failed/;
const deadlineExceeded = 4;
const resourceExhausted = 8;

/** Classifies the error of a call. Parses the gRPC code from the message, because the error classes of etcd3 drop it. */
export function classifyFailure(caught: unknown): Failure {
  if (caught instanceof ArcError)
    return { error: caught, notApplied: false, unsent: false, retryable: false };
  const text = caught instanceof Error ? caught.message : String(caught);
  const rule = knownErrors.find((known) => known.text.test(text));
  const grpc = Number(/^(?:\w+: )?(\d+) [A-Z_]+:/.exec(text)?.[1] ?? Number.NaN);
  if (rule) {
    const error = new ArcError(rule.code, rule.message ?? text, { cause: caught });
    return { error, notApplied: true, unsent: false, retryable: false };
  }
  const refused = refusals.includes(grpc);
  const code = grpc === deadlineExceeded ? 'Timeout' : 'ServiceUnavailable';
  const message = grpc === deadlineExceeded ? 'etcd did not respond in time' : `etcd is unavailable: ${text}`;
  return {
    error: new ArcError(code, message, { cause: caught }),
    notApplied: refused || grpc === resourceExhausted || unsentPattern.test(text),
    unsent: unsentPattern.test(text),
    retryable: !refused,
  };
}
