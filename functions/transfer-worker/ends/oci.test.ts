import { describe, expect, it } from 'vitest';
import { formatReference, parseImageName } from '#shared/transfer';
import { landingName } from './oci.ts';

const landing = (image: string, override: unknown) =>
  formatReference(landingName({ type: 'oci', spec: { override } }, parseImageName(image)));
const digest = `sha256:${'0'.repeat(64)}`;

describe('the name at the destination', () => {
  it.each([
    ['team/app:1', undefined, 'team/app:1'],
    ['team/app:1', 'mirror/app:2', 'mirror/app:2'],
    ['team/app:1', 'mirror/app', 'mirror/app:1'],
    ['team/app', 'mirror/app', 'mirror/app'],
    [`team/app:1@${digest}`, 'mirror/app', `mirror/app:1@${digest}`],
    [`team/app@${digest}`, undefined, `team/app@${digest}`],
  ])('of %s with override %s is %s', (image, override, destination) => {
    expect(landing(image, override)).toBe(destination);
  });

  it('is refused with the field if the override is not a string', () => {
    expect(() => landing('a', 5)).toThrow('spec.override');
  });
});
