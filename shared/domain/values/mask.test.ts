import { describe, expect, it } from 'vitest';
import { fc } from '#shared/base/testing';
import { createLineMasker, maskCredentials } from './mask.ts';

const key = ['-----BEGIN RSA PRIVATE KEY-----', 'MIIEpAIBAAKCAQEA', '-----END RSA PRIVATE KEY-----'].join(
  '\n',
);

it('masks the lines of a log, those of a private key as well', () => {
  const log = ['password=hunter2', ...key.split('\n'), 'after'];
  expect(log.map(createLineMasker())).toEqual(['password=***', '***', '***', '***', 'after']);
});

describe('maskCredentials', () => {
  it.each([
    ['clone https://me:hunter2@host/x', 'clone https://***@host/x'],
    ['authorization: Bearer abc', 'authorization: ***'],
    ['{"Authorization":"Basic bWU6aHVudGVyMg=="}', '{"Authorization":"***"}'],
    ['sent Bearer 0123456789abcdef0123', 'sent Bearer ***'],
    ['got eyJhbGciOiJub25lIn0.eyJzdWIiOiJtZSJ9.c2ln back', 'got *** back'],
    ['DB_PASSWORD=hunter2 started', 'DB_PASSWORD=*** started'],
    ['{"access_token": "hunter2", "expires": 3}', '{"access_token": ***, "expires": 3}'],
    ["secretKey='hun ter2'", 'secretKey=***'],
    ['curl --api-key=hunter2 x', 'curl --api-key=*** x'],
    [`before\n${key}\nafter`, 'before\n***\nafter'],
    [`QEFAASCBKcw\n${key.split('\n').slice(1).join('\n')}\nafter`, '***\nafter'],
    [`before\n${key.slice(0, 40)}`, 'before\n***'],
  ])('takes the credential out of %j', (text, expected) => {
    expect(maskCredentials(text)).toBe(expected);
  });

  it.each([
    'main: Error (exit code 13)',
    'the image is not there: registry.example/team/app@sha256:abcd',
    'secrets "arc-config" not found',
    'fatal: unable to access https://host/x: 401',
    'basic authentication is refused',
  ])('leaves %j as it is', (text) => {
    expect(maskCredentials(text)).toBe(text);
  });

  it('takes time in proportion to the text, whatever is in it', () => {
    const pieces = [
      '-----BEGIN PRIVATE KEY-----',
      '-----END',
      '//',
      'password',
      'eyJ',
      'basic ',
      ':',
      '"',
      'a',
      '\n',
      ' ',
    ];
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 30 }), (parts) => {
        // A pattern that goes back and forth would take hours for this.
        expect(maskCredentials(parts.join('').repeat(300)).length).toBeLessThan(200_000);
      }),
    );
  });
});
