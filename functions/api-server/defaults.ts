import { randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { parseAllDocuments } from 'yaml';
import * as z from 'zod';
import type { Authenticator } from '#shared/apiserver';
import { createBackoff, pause } from '#shared/async';
import { arcKinds } from '#shared/domain';
import { ArcError } from '#shared/errors';
import type { Logger } from '#shared/telemetry';

const manifest = z.looseObject({
  kind: z.string(),
  metadata: z.looseObject({ name: z.string(), namespace: z.string().optional() }),
});

export interface DefaultsOptions {
  /** Folder of manifests, `*.yaml`, of our own kinds. */
  folder: string;
  /** Sends a request to the API, as somebody who may write every kind. */
  send(request: Request): Response | Promise<Response>;
  log: Logger;
  signal: AbortSignal;
}

/**
 * Applies the objects that an installation brings along (server-side, forced: what they say holds, what they leave out is
 * the operator's). They are of our own API, so no `kubectl apply` of the installation could contain them. A server that is not ready
 * is asked again until `signal` is aborted; an object that is refused is logged and left out. Never rejects.
 */
export async function applyDefaults({ folder, send, log, signal }: DefaultsOptions): Promise<void> {
  const backoff = createBackoff({ maxMs: 10_000, random: Math.random });
  while (!signal.aborted) {
    try {
      for (const object of await readObjects(folder)) await apply(object, send, log);
      return;
    } catch (caught) {
      log.warn({ err: ArcError.from(caught) }, 'the objects of the installation cannot be applied yet');
      await pause(backoff.next(), signal);
    }
  }
}

async function readObjects(folder: string): Promise<unknown[]> {
  // A volume of a ConfigMap also holds folders and links of its own, whose names begin with dots.
  const files = (await readdir(folder)).filter((name) => name.endsWith('.yaml') && !name.startsWith('.'));
  const texts = await Promise.all(files.toSorted().map((name) => readFile(path.join(folder, name), 'utf8')));
  return texts.flatMap((text) => parseAllDocuments(text).map((document) => document.toJS()));
}

async function apply(object: unknown, send: DefaultsOptions['send'], log: Logger): Promise<void> {
  const { kind, metadata } = manifest.parse(object);
  const definition = arcKinds.find((one) => one.kind === kind);
  if (definition === undefined)
    return log.error({ kind, name: metadata.name }, 'this object is of no kind of ours and was left out');
  const where = definition.scope === 'Namespaced' ? `namespaces/${metadata.namespace ?? 'default'}/` : '';
  const { group, version, plural } = definition;
  const url = `http://loopback/apis/${group}/${version}/${where}${plural}/${metadata.name}?fieldManager=arc-defaults&force=true`;
  const headers = { 'content-type': 'application/apply-patch+yaml' };
  const answer = await send(new Request(url, { method: 'PATCH', headers, body: JSON.stringify(object) }));
  const text = await answer.text();
  if (answer.ok) return log.info({ kind, name: metadata.name }, 'applied');
  if (answer.status >= 500 || answer.status === 429) throw new ArcError('ServiceUnavailable', text);
  log.error({ kind, name: metadata.name, answer: text }, 'this object was refused and was left out');
}

/** A caller inside this process, known by a token that never leaves it: `stamp` puts it on, `authenticator` knows it again. */
export function loopbackCaller(next: Authenticator): {
  authenticator: Authenticator;
  stamp(request: Request): Request;
} {
  const header = `Bearer ${randomBytes(32).toString('base64url')}`;
  return {
    authenticator: (request, connection) =>
      request.headers.get('authorization') === header
        ? Promise.resolve({ name: 'system:apiserver', groups: ['system:masters'] })
        : next(request, connection),
    stamp(request) {
      request.headers.set('authorization', header);
      return request;
    },
  };
}
