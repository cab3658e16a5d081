import { describe, expect, it } from 'vitest';
import { type AddressRange, createAddressGuard, loopbackRanges } from './address-guard.ts';

/** The addresses that a name resolves to, or the code of the refusal. */
function resolved(name: string, allowed: readonly AddressRange[] = []): Promise<unknown> {
  return new Promise((resolve) => {
    createAddressGuard(allowed).lookup(name, { all: true }, (error, addresses) =>
      resolve(error ? (error as NodeJS.ErrnoException).code : addresses),
    );
  });
}

describe('the guard of addresses', () => {
  it.each([
    '127.0.0.1',
    '127.8.9.1',
    '0.0.0.0',
    '169.254.169.254',
    '[::1]',
    '[::]',
    '[fe80::1]',
    '[fd00:ec2::254]',
    '[::ffff:127.0.0.1]',
    '[::ffff:a9fe:a9fe]',
    '[64:ff9b::7f00:1]',
    '224.0.0.1',
  ])('refuses %s', (host) => {
    expect(() => createAddressGuard().check(host)).toThrow(/may not be reached/);
  });

  it.each(['10.0.0.1', '192.168.1.1', '8.8.8.8', '[2001:db8::1]', '[fd00::1]', 'registry.example'])(
    'lets %s through',
    (host) => {
      createAddressGuard().check(host);
    },
  );

  it('lets through what the operator allows, and no more', () => {
    const guard = createAddressGuard([['127.0.0.0', 8]]);
    guard.check('127.0.0.1');
    expect(() => guard.check('169.254.169.254')).toThrow();
  });

  it('judges the addresses that a name resolves to', async () => {
    expect(await resolved('localhost')).toBe('ERR_ADDRESS_DENIED');
    expect(await resolved('localhost', loopbackRanges)).toContainEqual({
      address: expect.stringMatching(/^(127\.0\.0\.1|::1)$/),
      family: expect.any(Number),
    });
  });
});
