import { type FileFolder, type ListedFile, maxFolderFiles } from '../content/folder.ts';
import { TransferError } from '../errors/transfer-error.ts';
import { byteCount } from '../http/body.ts';
import { elements, rootOf, textOf } from '../http/xml.ts';
import type { Connections } from '../servers/connections.ts';
import type { FileLocation } from '../servers/location.ts';
import { withQuery } from './bucket.ts';
import { openObject } from './open-object.ts';

/** Even with keys of maximum length, a page of this size fits the limit of a response. */
const pageSize = 500;
/** A placeholder for an object below the prefix. */
const anyName = 'x';

/** Opens all objects below `path` (empty, or ending with a slash) of the Endpoint's prefix. Throws a config TransferError. */
export function openS3Folder(location: FileLocation, connections: Connections): FileFolder {
  const inside = (path: string) =>
    openObject({ ...location, path: `${location.path}${path}` }, connections).object;
  const { send, place } = inside(anyName);
  const prefix = place.key.slice(0, -anyName.length);
  const label = `folder "${location.path}" of server ${place.url.host}`;

  async function page(token: string | undefined, signal: AbortSignal) {
    const more = token === undefined ? {} : { 'continuation-token': token };
    const query = { 'list-type': 2, 'max-keys': pageSize, prefix, ...more };
    const url = withQuery(place.bucketURL, query);
    const { bytes } = await send({ method: 'GET', url, expect: [200], activity: `listing ${label}` }, signal);
    const root = rootOf(bytes);
    if (root?.name !== 'ListBucketResult')
      throw new TransferError(
        'permanent',
        `The list of ${label} cannot be read: the response of the storage is not a list.`,
      );
    return {
      objects: elements(root, 'Contents'),
      next: textOf(root, 'IsTruncated') === 'true' ? textOf(root, 'NextContinuationToken') : undefined,
    };
  }

  return {
    label,

    async list(signal) {
      const files: ListedFile[] = [];
      let token: string | undefined;
      do {
        const { objects, next } = await page(token, signal);
        for (const object of objects) {
          // Not trimmed: a key may end with a blank.
          const key = elements(object, 'Key')[0]?.text ?? '';
          // Some tools represent folders as keys that end with a slash.
          if (!key.startsWith(prefix) || key === prefix || key.endsWith('/')) continue;
          const size = byteCount(textOf(object, 'Size'));
          files.push({ path: key.slice(prefix.length), ...(size !== undefined && { size }) });
        }
        if (files.length > maxFolderFiles || (next !== undefined && next === token))
          throw new TransferError(
            'permanent',
            `The ${label} has more than ${maxFolderFiles} files: move its folders separately.`,
          );
        token = next;
      } while (token !== undefined);
      return files;
    },

    async remove(path, signal) {
      const object = inside(path);
      const activity = `deleting ${object.label}`;
      const { url } = object.place;
      await object.send({ method: 'DELETE', url, expect: [200, 204, 404], writing: true, activity }, signal);
    },
  };
}
