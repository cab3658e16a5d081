import { describe, expect, it } from 'vitest';
import { createAddressGuard, publicGuard } from './address-guard.ts';
import { type AddressRange, loopbackRanges } from './address-ranges.ts';

/** The addresses that a name resolves to, or the code of the refusal. */
function resolved(name: string, allowed: readonly AddressRange[] = []): Promise<unknown> {
  return new Promise((resolve) => {
    createAddressGuard(allowed).lookup(name, { all: true }, (error, addresses) =>
      resolve(error ? (error as NodeJS.ErrnoException).code : addresses),
    );
  });
}

describe('the address guard', () => {
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
    '168.63.129.16',
    '[fd00:ec2::23]',
    '[fd20:ce::254]',
    '[fd00:100::100:200]',
    '[fd00:42::42]',
    '[fd00:a9fe:a9fe::1]',
    // IPv4-compatible, IPv4-translated, 6to4, NAT64, and NAT64 of local prefixes of 96, 64, 56 and 48 bits
    '[::ffff:0:169.254.169.254]',
    '[::ffff:0:7f00:1]',
    '[::127.0.0.1]',
    '[::169.254.169.254]',
    '[2002:7f00:1::]',
    '[2002:a9fe:a9fe::1]',
    '[64:ff9b::a83f:8110]',
    '[64:ff9b::6464:64c8]',
    '[64:ff9b:1::a9fe:a9fe]',
    '[64:ff9b:1::7f00:1]',
    '[64:ff9b:1:0:a9:fea9:fe00:0]',
    '[64:ff9b:1:a9:fe:a9fe::]',
    '[64:ff9b:1:a9fe:a9:fe00::]',
  ])('refuses %s', (host) => {
    expect(() => createAddressGuard().check(host)).toThrow(/may not be reached/);
  });

  it.each([
    '10.0.0.1',
    '192.168.1.1',
    '8.8.8.8',
    '[2001:db8::1]',
    '[fd00::1]',
    'registry.example',
    '[2002:808:808::]',
    '[64:ff9b::808:808]',
    '[64:ff9b:1::a00:5]',
    '[::808:808]',
  ])('allows %s', (host) => {
    createAddressGuard().check(host);
  });

  it('allows exactly what the operator allows', () => {
    const guard = createAddressGuard([['127.0.0.0', 8]]);
    guard.check('127.0.0.1');
    expect(() => guard.check('169.254.169.254')).toThrow();
  });

  it('does not allow an address because of one of its embedded addresses', () => {
    const guard = createAddressGuard(loopbackRanges);
    guard.check('[::1]');
    guard.check('[2002:7f00:1::]');
    expect(() => guard.check('[64:ff9b:1:7f00:0:0:a9fe:a9fe]')).toThrow();
  });

  it.each([
    '10.0.0.1',
    '172.31.0.1',
    '192.168.1.1',
    '100.64.0.1',
    '127.0.0.1',
    '169.254.169.254',
    '[fd00::1]',
    '[::ffff:10.0.0.1]',
    '[2002:a00:1::]',
    '[64:ff9b::c0a8:1]',
    '[64:ff9b:1::a00:5]',
    '[::ffff:0:a00:1]',
    '[3fff::1]',
    '[5f00::1]',
  ])('does not treat %s as a public address', (host) => {
    expect(() => publicGuard.check(host)).toThrow(/in a private network/);
  });

  it.each(['8.8.8.8', '172.32.0.1', '[2606:4700::1111]', '[64:ff9b::808:808]', 'registry.example'])(
    'treats %s as a public address or a name',
    (host) => publicGuard.check(host),
  );

  it('checks the addresses that a name resolves to', async () => {
    expect(await resolved('localhost')).toBe('ERR_ADDRESS_DENIED');
    expect(await resolved('localhost', loopbackRanges)).toContainEqual({
      address: expect.stringMatching(/^(127\.0\.0\.1|::1)$/),
      family: expect.any(Number),
    });
  });
});
