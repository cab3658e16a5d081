import type { Connection } from '../authentication/connection.ts';
import type { User } from '../authentication/user.ts';
import type { Attributes } from '../authorization/authorizer.ts';

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
  /** What was created, where the request did not name it. */
  created?: { name: string; uid?: string };
  /** The body, where somebody wants to record it. */
  body?: Uint8Array;
}

const recorded = new WeakMap<Request, { exchange: Exchange; withBody: boolean }>();

/** From here on the exchange learns what those who handle its request find out, and the body as it is read. */
export function record(exchange: Exchange, withBody: boolean): void {
  recorded.set(exchange.request, { exchange, withBody });
}

/** Called by whoever reads a body. */
export function noteBody(request: Request, body: Uint8Array): void {
  const found = recorded.get(request);
  if (found?.withBody) found.exchange.body = body;
}

/** Called by whoever creates an object. */
export function noteCreated(request: Request, { name, uid }: { name: string; uid?: string }): void {
  const found = recorded.get(request);
  if (found) found.exchange.created = { name, ...(uid !== undefined && { uid }) };
}
