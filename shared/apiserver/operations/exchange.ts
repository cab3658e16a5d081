import type { Connection } from '../connection.ts';
import type { Attributes, User } from '../definition.ts';

/** One request as it is handled, for those who count and record: filled in as things become known. */
export interface Exchange {
  request: Request;
  url: URL;
  connection: Connection | undefined;
  auditId: string;
  receivedAt: Date;
  /** Milliseconds of performance.now(). */
  startedAt: number;
  /** Who asked; when they act as somebody else, `user` is the other. */
  asking?: User;
  user?: User;
  attributes?: Attributes;
  /** undefined: nobody has decided yet. */
  decision?: { allowed: boolean; reason: string };
  /** The body, where somebody wants to record it. */
  body?: Uint8Array;
}

const exchanges = new WeakMap<Request, Exchange>();

/** From here on the body of this request is kept in the exchange as it is read. */
export function keepBody(exchange: Exchange): void {
  exchanges.set(exchange.request, exchange);
}

/** Called by whoever reads a body. */
export function noteBody(request: Request, body: Uint8Array): void {
  const exchange = exchanges.get(request);
  if (exchange) exchange.body = body;
}
