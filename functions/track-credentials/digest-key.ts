import { randomBytes } from 'node:crypto';
import { conduitNamespace, type Secret, secrets } from '#shared/domain';
import { ArcError } from '#shared/errors';
import type { Context } from '#shared/runtime';

/** The Secret of the conduit's namespace that holds the key of all digests. Delete it to get a new key. */
const keySecretName = 'arc-credential-key';
const where = { namespace: conduitNamespace, name: keySecretName };

/**
 * The random key of the digests, made the first time it is needed. Of two that make one at once the one that was stored
 * counts. Rejects with Invalid when somebody has put something else in its place.
 */
export async function digestKey({ api, signal }: Context): Promise<{ id: string; bytes: Uint8Array }> {
  const known = await api.get(secrets, where, signal);
  if (known !== undefined) return keyOf(known);
  try {
    return keyOf(await api.create(secrets, newKey(), signal));
  } catch (caught) {
    if (!ArcError.is(caught, 'AlreadyExists')) throw caught;
  }
  const stored = await api.get(secrets, where, signal);
  if (stored === undefined) throw new ArcError('Conflict', `Secret "${keySecretName}" is being replaced`);
  return keyOf(stored);
}

function newKey(): Secret {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: where,
    type: 'Opaque',
    immutable: true,
    data: {
      // The id says nothing of the key: it is random too.
      id: Buffer.from(randomBytes(4).toString('hex')).toString('base64'),
      key: randomBytes(32).toString('base64'),
    },
  };
}

function keyOf(secret: Secret): { id: string; bytes: Uint8Array } {
  const id = Buffer.from(secret.data?.id ?? '', 'base64').toString();
  const bytes = Buffer.from(secret.data?.key ?? '', 'base64');
  if (!/^[0-9a-f]{8}$/.test(id) || bytes.length < 32)
    throw new ArcError(
      'Invalid',
      `Secret "${conduitNamespace}/${keySecretName}" is no digest key; delete it and a new one is made`,
    );
  return { id, bytes };
}
