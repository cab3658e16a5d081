import { ArcError, type Code } from '#shared/base/errors';
import { etcdRequestBytes } from '#shared/base/meta';

/** The meaning of a failed call. */
export interface Failure {
  error: ArcError;
  /** A write that failed like this has surely not taken place, and never will. */
  certain: boolean;
  /** The request never left this process. */
  unsent: boolean;
  /** The same read may succeed a moment later. */
  passing: boolean;
}

/** Texts of etcd's own (api/v3rpc/rpctypes/error.go), which say more than the gRPC code they travel with. */
const known: { text: RegExp; code: Code; message?: string }[] = [
  { text: /required revision has been compacted/, code: 'Expired', message: 'the revision is compacted' },
  {
    text: /required revision is a future revision/,
    code: 'Timeout',
    message: 'the revision is still to come',
  },
  {
    text: /request is too large|message larger than max/,
    code: 'RequestEntityTooLarge',
    message: `the object is larger than this etcd takes in one request: start etcd with --max-request-bytes=${etcdRequestBytes}, which is its default`,
  },
  {
    // MySQL and MariaDB behind kine, whose column of keys is ASCII.
    text: /Illegal mix of collations|Incorrect string value/,
    code: 'BadRequest',
    message: 'this store takes keys of ASCII characters only',
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
/** The error text of grpc-js for a call that found no connection. */
const neverSent = /No connection established|Channel closed before call started|Name resolution failed/;
const deadlineExceeded = 4;
const resourceExhausted = 8;

/** Reads the gRPC code from the text, where etcd3 leaves it: its error classes drop the number. */
export function classifyFailure(caught: unknown): Failure {
  if (caught instanceof ArcError) return { error: caught, certain: false, unsent: false, passing: false };
  const text = caught instanceof Error ? caught.message : String(caught);
  const rule = known.find((one) => one.text.test(text));
  const grpc = Number(/^(?:\w+: )?(\d+) [A-Z_]+:/.exec(text)?.[1] ?? Number.NaN);
  if (rule) {
    const error = new ArcError(rule.code, rule.message ?? text, { cause: caught });
    return { error, certain: true, unsent: false, passing: false };
  }
  const refused = refusals.includes(grpc);
  const code = grpc === deadlineExceeded ? 'Timeout' : 'ServiceUnavailable';
  const message = grpc === deadlineExceeded ? 'etcd did not answer in time' : `etcd cannot answer: ${text}`;
  return {
    error: new ArcError(code, message, { cause: caught }),
    certain: refused || grpc === resourceExhausted || neverSent.test(text),
    unsent: neverSent.test(text),
    passing: !refused,
  };
}
