import type {
  ICompactionRequest,
  ICompactionResponse,
  IRangeRequest,
  IRangeResponse,
  ITxnRequest,
  ITxnResponse,
  IWatchRequest,
  IWatchResponse,
} from 'etcd3';
import type { EtcdTls } from './endpoints.ts';

/**
 * The calls of the etcd API that the store uses, without retries. `timeout` is in milliseconds. Calls reject with the error of the
 * transport, which classifyFailure() interprets.
 */
export interface EtcdWire {
  range(request: IRangeRequest, timeout: number): Promise<IRangeResponse>;
  txn(request: ITxnRequest, timeout: number): Promise<ITxnResponse>;
  compact(request: ICompactionRequest, timeout: number): Promise<ICompactionResponse>;
  watch(): Promise<WatchStream>;
  /**
   * Uses a new TLS identity for new connections. Throws if certificate and key do not match, and keeps the previous identity. Calls and
   * watches in flight stay on their connections.
   */
  renew(tls: EtcdTls): void;
  /** Rejects new calls; calls in flight finish. */
  close(): void;
}

/** A watch call with backpressure. A broken connection rejects the iteration. */
export interface WatchStream extends AsyncIterable<IWatchResponse> {
  send(request: IWatchRequest): void;
  cancel(): void;
}
