import { randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { parseAllDocuments } from 'yaml';
import * as z from 'zod';
import { createBackoff, pause } from '#shared/base/async';
import { ArcError } from '#shared/base/errors';
import type { Logger } from '#shared/base/telemetry';
import { arcKinds } from '#shared/domain';
import type { Authenticator } from '#shared/kubernetes/apiserver';

const manifest = z.looseObject({
  kind: z.string(),
  metadata: z.looseObject({ name: z.string(), namespace: z.string().optional() }),
});

export interface DefaultsOptions {
  /** Folder of manifests, `*.yaml`, of our own kinds. */
  folder: string;
  /** Sends a request to the API as a user who may write every kind. */
  send(request: Request): Response | Promise<Response>;
  log: Logger;
  signal: AbortSignal;
}

/**
 * Applies the objects that come with an installation, by forced server-side apply: their fields are set, and all other fields belong to
 * the operator. They are of our own API, so the manifests of the installation cannot contain them. Retries while the server is not
 * ready, until `signal` is aborted; logs and skips an object that is refused. Never rejects.
 */
export async function applyDefaults({ folder, send, log, signal }: DefaultsOptions): Promise<void> {
  const backoff = createBackoff({ maxMs: 10_000, random: Math.random });
  while (!signal.aborted) {
    try {
      for (const object of await readObjects(folder)) await apply(object, send, log);
      return;
    } catch (caught) {
      log.warn({ err: ArcError.from(caught) }, 'cannot apply the objects of the installation yet');
      await pause(backoff.next(), signal);
    }
  }
}

async function readObjects(folder: string): Promise<unknown[]> {
  // The kubelet keeps folders and links in a ConfigMap volume; their names begin with dots.
  const files = (await readdir(folder)).filter((name) => name.endsWith('.yaml') && !name.startsWith('.'));
  const texts = await Promise.all(files.toSorted().map((name) => readFile(path.join(folder, name), 'utf8')));
  return texts.flatMap((text) => parseAllDocuments(text).map((document) => document.toJS()));
}

async function apply(object: unknown, send: DefaultsOptions['send'], log: Logger): Promise<void> {
  const { kind, metadata } = manifest.parse(object);
  const definition = arcKinds.find((one) => one.kind === kind);
  if (definition === undefined)
    return log.error(
      { kind, name: metadata.name },
      'skipped an object of a kind that this server does not serve',
    );
  const where = definition.scope === 'Namespaced' ? `namespaces/${metadata.namespace ?? 'default'}/` : '';
  const { group, version, plural } = definition;
  const url = `http://loopback/apis/${group}/${version}/${where}${plural}/${metadata.name}?fieldManager=arc-defaults&force=true`;
  const headers = { 'content-type': 'application/apply-patch+yaml' };
  const answer = await send(new Request(url, { method: 'PATCH', headers, body: JSON.stringify(object) }));
  const text = await answer.text();
  if (answer.ok) return log.info({ kind, name: metadata.name }, 'applied');
  if (answer.status >= 500 || answer.status === 429) throw new ArcError('ServiceUnavailable', text);
  log.error({ kind, name: metadata.name, answer: text }, 'skipped an object that was refused');
}

/** A client inside this process, with a token that never leaves it: `stamp` adds it to a request, `authenticator` recognises it. */
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
