import { writtenTag } from '#shared/domain/address';
import type { ContentSink, ContentSource } from '../content/content.ts';
import { TransferError } from '../errors/transfer-error.ts';
import { ensureReferrers } from './ensure-referrers.ts';
import { createReferrerFinder } from './referrer-finder.ts';
import type { Repository } from './repository.ts';

/** Returns the image at the repository's address (`latest` without tag and digest) as a source of a copy. */
export function registrySource(repository: Repository): ContentSource {
  const { address, place, registry } = repository;
  const reference = address.digest ?? address.tag ?? 'latest';
  return {
    place,
    ...(registry && { registry }),
    async root(signal) {
      const found = await repository.manifest(reference, signal);
      if (found) return found;
      throw new TransferError(
        'permanent',
        `Image ${address.repository}:${reference} does not exist in registry ${address.host} (404): check image name, tag and remoteURL; some registries also answer 404 if the account may not read the repository.`,
      );
    },
    manifest: repository.manifest,
    openBlob: repository.openBlob,
    findReferrers: createReferrerFinder(repository),
  };
}

/** Returns the repository as a destination: the tag of its address, or `latest` if the address has neither tag nor digest. */
export function registrySink(repository: Repository): ContentSink {
  const { address, place, registry, manifest, head, putManifest, hasBlob, mount, upload } = repository;
  const tag = writtenTag(address);
  return {
    place,
    ...(registry && { registry }),
    ...(tag !== undefined && { tag }),
    ...(address.digest !== undefined && { digest: address.digest }),
    manifest,
    head,
    putManifest,
    hasBlob,
    ...(mount && { mount }),
    upload,
    ensureReferrers: (subject, referrers, signal) => ensureReferrers(repository, subject, referrers, signal),
  };
}
