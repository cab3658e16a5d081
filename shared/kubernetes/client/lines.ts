import { ArcError } from '#shared/base/errors';

/**
 * Splits a stream of bytes into lines of text. Characters may be split over chunks. Rejects with InternalError for
 * invalid UTF-8 and for a line longer than `limit` UTF-16 units, and with ServiceUnavailable if the stream
 * ends within a line: half a line is a lost message.
 */
export async function* readLines(chunks: AsyncIterable<Uint8Array>, limit: number): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let rest = '';
  for await (const chunk of chunks) {
    const text = decode(decoder, chunk);
    let start = 0;
    // Only the new text is searched: searching everything again would be quadratic in the length of a line.
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
    throw new ArcError('ServiceUnavailable', 'the stream was cut in the middle of a line');
  }
}

function decode(decoder: InstanceType<typeof TextDecoder>, chunk?: Uint8Array): string {
  try {
    return chunk === undefined ? decoder.decode() : decoder.decode(chunk, { stream: true });
  } catch (caught) {
    const code = chunk === undefined ? 'ServiceUnavailable' : 'InternalError';
    throw new ArcError(code, 'the stream holds bytes that are not UTF-8', { cause: caught });
  }
}

function tooLong(limit: number): ArcError {
  return new ArcError('InternalError', `the stream holds a line longer than ${limit} characters`);
}
