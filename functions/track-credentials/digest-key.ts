import { randomBytes } from 'node:crypto';
import { ArcError } from '#shared/base/errors';
import { createOrGet } from '#shared/conduit/function-kit';
import type { Context } from '#shared/conduit/runtime';
import { conduitNamespace, type DigestKey, type Secret, secrets } from '#shared/domain';

/** The Secret with the key of all digests. Delete it to get a new key. */
const keySecret = { namespace: conduitNamespace, name: 'arc-credential-key' };

/**
 * Returns the random key of the digests, created on first use. When two replicas create a key concurrently, both use the stored one.
 * Rejects with Invalid if the Secret holds anything else.
 */
export async function digestKey(context: Context): Promise<DigestKey> {
  const known = await context.api.get(secrets, keySecret, context.signal);
  return keyOf(known ?? (await createOrGet(context, secrets, newKey())).object);
}

function newKey(): Secret {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: keySecret,
    type: 'Opaque',
    immutable: true,
    data: {
      // The id is random too, so that it reveals nothing about the key.
      id: Buffer.from(randomBytes(4).toString('hex')).toString('base64'),
      key: randomBytes(32).toString('base64'),
    },
  };
}

function keyOf(secret: Secret): DigestKey {
  const id = Buffer.from(secret.data?.id ?? '', 'base64').toString();
  const bytes = Buffer.from(secret.data?.key ?? '', 'base64');
  if (!/^[0-9a-f]{8}$/.test(id) || bytes.length < 32)
    throw new ArcError(
      'Invalid',
      `Secret "${keySecret.namespace}/${keySecret.name}" holds no valid digest key; delete it to have a new one created`,
    );
  return { id, bytes };
}
