import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import type { FileInfo, FileSink, FileSource, FileUpload } from '../content/file.ts';
import { TransferError } from '../errors/transfer-error.ts';

/** A file of this machine as a source. Its digest is computed here, so it is proven. */
export function localSource(file: string): FileSource {
  const label = `file ${file}`;
  return {
    label,
    url: pathToFileURL(file).href,
    stat: (signal) => onDisk(label, () => infoOf(file, signal)),
    open: (offset) =>
      onDisk(label, async () => {
        const { size } = await stat(file);
        const start = Math.min(offset, size);
        return { start, info: { size }, stream: createReadStream(file, { start }), bounded: true };
      }),
  };
}

/** A file of this machine as a destination, written atomically. A file `.from` beside it records the version of the source. */
export function localSink(file: string): FileSink {
  const written = localSource(file);
  const origin = `${file}.from`;
  return {
    label: written.label,
    readBack: written,
    async head(signal) {
      const found = await onDisk(written.label, () => stat(file)).catch(() => undefined);
      if (found?.isFile() !== true) return undefined;
      const from = await readFile(origin, 'utf8').catch(() => undefined);
      return { ...(await written.stat(signal)), ...(from !== undefined && { origin: from }) };
    },
    async put(upload, signal) {
      await onDisk(written.label, async () => {
        // Removed first, so that it never describes another version of the file.
        await rm(origin, { force: true });
        await write(`${file}.partial`, upload, signal);
        await rename(`${file}.partial`, file);
        if (upload.origin !== undefined) await writeFile(origin, upload.origin);
      });
      return [];
    },
  };
}

async function infoOf(file: string, signal: AbortSignal): Promise<FileInfo> {
  const hash = createHash('sha256');
  let size = 0;
  for await (const chunk of createReadStream(file, { signal }) as AsyncIterable<Buffer>) {
    hash.update(chunk);
    size += chunk.length;
  }
  return { size, digest: `sha256:${hash.digest('hex')}`, proven: true };
}

async function write(file: string, upload: FileUpload, signal: AbortSignal): Promise<void> {
  // Unlinked first: an existing symbolic link could point anywhere.
  await rm(file, { force: true });
  try {
    await writeFile(file, upload.content(signal), { flag: 'wx', flush: true });
  } catch (caught) {
    await rm(file, { force: true });
    throw caught;
  }
}

/** Turns disk failures into retryable TransferErrors: another pod may have space. */
async function onDisk<Result>(label: string, operation: () => Promise<Result>): Promise<Result> {
  try {
    return await operation();
  } catch (caught) {
    if (caught instanceof TransferError) throw caught;
    const why = caught instanceof Error ? caught.message : String(caught);
    throw new TransferError('retryable', `Cannot use ${label}: ${why}.`, { cause: caught, again: false });
  }
}
