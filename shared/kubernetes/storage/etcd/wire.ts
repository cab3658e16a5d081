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
 * The four calls of etcd's API that the store makes, each tried once and never repeated; `timeout` is in ms. They
 * reject with what the transport throws: classifyFailure() says what that means.
 */
export interface EtcdWire {
  range(request: IRangeRequest, timeout: number): Promise<IRangeResponse>;
  txn(request: ITxnRequest, timeout: number): Promise<ITxnResponse>;
  compact(request: ICompactionRequest, timeout: number): Promise<ICompactionResponse>;
  watch(): Promise<WatchStream>;
  /**
   * From now on connects with these; throws, and goes on with what it has, where they do not belong together. Calls and watches
   * in flight stay on their connections, whose certificates TLS checks only when a connection is made.
   */
  renew(tls: EtcdTls): void;
  /** Calls on their way end by themselves; new ones reject. */
  close(): void;
}

/** One watch call. Messages wait at the sender until they are read; a broken connection rejects the iteration. */
export interface WatchStream extends AsyncIterable<IWatchResponse> {
  send(request: IWatchRequest): void;
  cancel(): void;
}
