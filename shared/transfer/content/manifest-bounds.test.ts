import { expect, it } from 'vitest';
import { createManifestBounds } from './manifest-bounds.ts';

const place = 'repository team/app of registry r.io';

it('an artifact has at most 2000 manifests', () => {
  const bounds = createManifestBounds(place);
  for (let count = 0; count < 2000; count += 1) bounds.next();
  expect(() => bounds.next()).toThrow(`${place} is not copied: it has more than 2000 manifests`);
});

it('its manifests have at most 64 MiB', () => {
  const bounds = createManifestBounds(place);
  const large = { bytes: Buffer.alloc(4 * 1024 * 1024) };
  for (let count = 0; count < 16; count += 1) bounds.add(large);
  expect(() => bounds.add({ bytes: Buffer.of(1) })).toThrow('its manifests have more than 64 MiB');
});
