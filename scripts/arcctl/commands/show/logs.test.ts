import { expect, it } from 'vitest';
import { outcomeText } from './logs.ts';

it.each([
  ['3 of 8 blobs', undefined],
  ['{"outcome":', undefined],
  [
    '{"outcome":"failed","reason":"permanent","message":"Image a:1 does not exist"}',
    'failed (permanent): Image a:1 does not exist',
  ],
  [
    '{"outcome":"succeeded","digest":"sha256:ab","bytes":{"copied":2048},"blobs":{"existed":1}}',
    'succeeded, sha256:ab, 2 KiB copied, 1 blobs existed',
  ],
])('%s', (line, expected) => expect(outcomeText(line)).toBe(expected));
