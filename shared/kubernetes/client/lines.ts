import { ArcError } from '#shared/base/errors';

/**
 * Splits a stream of bytes into lines. Characters may be split between chunks. Rejects with InternalError for invalid UTF-8 and for a line
 * longer than `limit` UTF-16 code units, and with ServiceUnavailable if the stream ends within a line.
 */
export async function* readLines(chunks: AsyncIterable<Uint8Array>, limit: number): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let rest = '';
  for await (const chunk of chunks) {
    const text = decode(decoder, chunk);
    let start = 0;
    // Searches only the new text, since searching `rest` again would be quadratic.
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', start)) {
      const line = rest + text.slice(start, end);
      rest = '';
      start = end + 1;
      if (line.length > limit) throw tooLong(limit);
      if (line.trim() !== '') yield line;
    }
    rest += text.slice(start);
    if (rest.length > limit) throw tooLong(limit);
  }
  if ((rest + decode(decoder)).trim() !== '') {
    throw new ArcError('ServiceUnavailable', 'the stream ended within a line');
  }
}

function decode(decoder: InstanceType<typeof TextDecoder>, chunk?: Uint8Array): string {
  try {
    return chunk === undefined ? decoder.decode() : decoder.decode(chunk, { stream: true });
  } catch (caught) {
    const code = chunk === undefined ? 'ServiceUnavailable' : 'InternalError';
    throw new ArcError(code, 'the stream contains invalid UTF-8', { cause: caught });
  }
}

function tooLong(limit: number): ArcError {
  return new ArcError('InternalError', `the stream contains a line longer than ${limit} characters`);
}
