import type { IncomingHttpHeaders } from 'node:http';
import { isDigest } from '../reference/digest.ts';

/** The digest that the registry reports; undefined unless it is valid. */
export function reportedDigest(headers: IncomingHttpHeaders): string | undefined {
  const digest = headers['docker-content-digest'];
  return typeof digest === 'string' && isDigest(digest) ? digest : undefined;
}
