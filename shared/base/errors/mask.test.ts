import { describe, expect, it } from 'vitest';
import { fc } from '#shared/base/testing';
import { createMasker, maskSecrets } from './mask.ts';

describe('masking', () => {
  it('masks every form of a secret, wherever it occurs', () => {
    const secret = fc
      .string({ minLength: 4, maxLength: 30 })
      .filter((text) => !/^[*]+$/.test(text) && text.isWellFormed());
    fc.assert(
      fc.property(secret, (secret) => {
        const forms = [secret, Buffer.from(secret).toString('base64'), encodeURIComponent(secret)];
        for (const form of forms) expect(maskSecrets(`<${form}>`, [secret])).toBe('<***>');
      }),
    );
  });

  it('masks a longer secret whole when another one is part of it', () => {
    expect(maskSecrets('hunter22-and-more', ['hunter22', 'hunter22-and-more'])).toBe('***');
  });

  it('does not mask very short secrets', () => {
    expect(maskSecrets('an apple', ['a', ''])).toBe('an apple');
  });

  it('masks secrets that are added later', () => {
    const masker = createMasker(['first-secret']);
    masker.add('second-secret');
    expect(masker.apply('first-secret second-secret')).toBe('*** ***');
    for (let more = 0; more < 1500; more += 1) masker.add(`token-${more}`);
    expect(masker.apply('first-secret token-1499')).toBe('*** ***');
  });
});
