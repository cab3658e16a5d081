/** The part of a `Request` that the server reads. A call from the same process has no more than this. */
export interface IncomingRequest {
  readonly method: string;
  /** Absolute. */
  readonly url: string;
  readonly headers: Pick<Headers, 'get' | 'keys'>;
  /** Aborted when the client has left. */
  readonly signal: AbortSignal;
  /** Null without one. */
  readonly body: AsyncIterable<Uint8Array> | null;
  arrayBuffer(): Promise<ArrayBuffer>;
}
