import { Duplex } from 'node:stream';
import type { Etcd3, IOptions, IWatchResponse } from 'etcd3';
import { ArcError } from '#shared/base/errors';
import { limitConnections } from './connect-limit.ts';
import type { EtcdTls } from './endpoints.ts';
import type { EtcdWire, WatchStream } from './wire.ts';

type Interceptor = NonNullable<
  NonNullable<Parameters<Etcd3['watchClient']['watch']>[0]>['interceptors']
>[number];
type Policy = NonNullable<NonNullable<IOptions['faultHandling']>['global']>;

/** Disables the retries and circuit breakers of etcd3: it would retry writes. */
class NoRetryPolicy implements Policy {
  declare readonly _altReturn: never;
  readonly onSuccess: Policy['onSuccess'] = () => ({ dispose: () => undefined });
  readonly onFailure: Policy['onFailure'] = () => ({ dispose: () => undefined });
  readonly #signal = new AbortController().signal;

  execute: Policy['execute'] = async (run) => run({ signal: this.#signal });
}

/**
 * Returns an EtcdWire based on the stubs of etcd3. Connects on the first call. Loads etcd3 lazily, which takes 90 ms and 27 MB.
 */
export async function connect(endpoints: readonly string[], tls: EtcdTls | undefined): Promise<EtcdWire> {
  const { Etcd3: Client } = await import('etcd3');
  const open = (identity: EtcdTls | undefined) => {
    const options = clientOptions(endpoints, identity);
    // Watches use a separate connection, because large ranges on the same connection would delay events.
    return { calls: new Client(options), watches: new Client(options) };
  };
  const removeLimit = limitConnections(endpoints.map((endpoint) => Number(new URL(endpoint).port)));
  let clients = open(tls);
  const close = ({ calls, watches }: typeof clients) => {
    calls.close();
    watches.close();
  };
  return {
    range: (request, timeout) => clients.calls.kv.range(request, { deadline: Date.now() + timeout }),
    txn: (request, timeout) => clients.calls.kv.txn(request, { deadline: Date.now() + timeout }),
    compact: (request, timeout) => clients.calls.kv.compact(request, { deadline: Date.now() + timeout }),
    watch: () => openWatch(clients.watches),
    renew(next) {
      const previous = clients;
      clients = open(next);
      close(previous);
    },
    close: () => {
      close(clients);
      removeLimit();
    },
  };
}

function clientOptions(endpoints: readonly string[], tls: EtcdTls | undefined): IOptions {
  const policy = new NoRetryPolicy();
  return {
    hosts: [...endpoints],
    ...(tls && { credentials: credentials(tls) }),
    faultHandling: { host: () => policy, global: policy },
    grpcOptions: {
      // A page of large objects exceeds the default of 4 MiB, which would fail and close the shared channel.
      'grpc.max_receive_message_length': -1,
      'grpc.max_send_message_length': -1,
      // Detects a dead peer. etcd allows a ping every 5 s, and none on an idle connection.
      'grpc.keepalive_time_ms': 10_000,
      'grpc.keepalive_timeout_ms': 5_000,
      'grpc.keepalive_permit_without_calls': 0,
      'grpc.initial_reconnect_backoff_ms': 100,
      'grpc.max_reconnect_backoff_ms': 2_000,
      'grpc.use_local_subchannel_pool': 1,
    },
  };
}

function credentials({ ca, cert, key }: EtcdTls): NonNullable<IOptions['credentials']> {
  // The type requires the root certificate; without it, gRPC uses the roots of Node.
  const roots = ca === undefined ? {} : { rootCertificate: Buffer.from(ca) };
  const pair =
    cert === undefined || key === undefined
      ? {}
      : { certChain: Buffer.from(cert), privateKey: Buffer.from(key) };
  return { ...roots, ...pair } as NonNullable<IOptions['credentials']>;
}

/** Makes a member that has lost its leader end the watch instead of stalling it. */
const requireLeader: Interceptor = (options, nextCall) => {
  const call = nextCall(options);
  const start = call.start.bind(call);
  call.start = (metadata, listener) => {
    metadata.set('hasleader', 'true');
    start(metadata, listener);
  };
  return call as ReturnType<Interceptor>;
};

async function openWatch(client: Etcd3): Promise<WatchStream> {
  const stream: unknown = await client.watchClient.watch({ interceptors: [requireLeader] });
  if (!(stream instanceof Duplex) || !('cancel' in stream) || typeof stream.cancel !== 'function')
    throw new ArcError('InternalError', 'etcd3 returned no stream for a watch');
  const cancel = stream.cancel.bind(stream);
  return {
    send: (request) => {
      if (stream.writable) stream.write(request);
    },
    cancel: () => cancel(),
    [Symbol.asyncIterator]: (): AsyncIterator<IWatchResponse> => stream[Symbol.asyncIterator](),
  };
}
