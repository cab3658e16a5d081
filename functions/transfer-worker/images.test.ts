import { describe, expect, it } from 'vitest';
import { imagesOf } from './images.ts';

const endpoint = { name: 'x', type: 'oci', remoteURL: 'https://r.io' };
const images = (spec: Record<string, unknown>) =>
  imagesOf({ artifact: { type: 'oci', spec }, source: endpoint, destination: endpoint });
const digest = `sha256:${'0'.repeat(64)}`;

describe('the images of an artifact', () => {
  it.each([
    ['team/app:1', undefined, 'team/app:1'],
    ['team/app:1', 'mirror/app:2', 'mirror/app:2'],
    ['team/app:1', 'mirror/app', 'mirror/app:1'],
    ['team/app', 'mirror/app', 'mirror/app'],
    [`team/app:1@${digest}`, 'mirror/app', `mirror/app:1@${digest}`],
    [`team/app@${digest}`, undefined, `team/app@${digest}`],
  ])('of %s with override %s end in the destination %s', (image, override, destination) => {
    expect(images({ image, override })).toEqual({ source: image, destination });
  });

  it.each([
    [{}, 'spec.image'],
    [{ image: 5 }, 'spec.image'],
    [{ image: 'a', override: 5 }, 'spec.override'],
  ])('reject the spec %j, naming the field', (spec, field) => {
    expect(() => images(spec)).toThrow(field);
  });
});
