import type { ByteStream } from '../http/body.ts';

/** What a server reports about a file without its content. Fields that the server does not report are absent. */
export interface FileInfo {
  /** In bytes. */
  size?: number;
  /** Changes with the content: a strong ETag (RFC 9110, 8.8.3), in quotes. */
  validator?: string;
  /** `sha256:<hex>` as stored by the server: a claim, unless `proven`. */
  digest?: string;
  /** True if the server computed `digest` from the content itself. */
  proven?: boolean;
  mediaType?: string;
  /** The source version that the copy recorded when it wrote the file (`versionOf`). */
  origin?: string;
}

/** A file opened at an offset. */
export interface OpenFile {
  /** The offset of the stream; 0 if the server ignored the requested offset, or has another version of the file now. */
  start: number;
  info: FileInfo;
  stream: ByteStream;
  /** False if the end of the stream may be an interrupted connection: the response had neither a length nor chunks. */
  bounded: boolean;
}

/** A file to read. Each operation rejects with a TransferError whose message names server and file. */
export interface FileSource {
  /** For messages: `file "a/b" of server host`. */
  readonly label: string;
  /** Identifies the file among all servers. It contains no credentials. */
  readonly url: string;
  /** Set if a storage can copy the file server-side: the name of storage and account, and the path in it. */
  readonly within?: { storage: string; path: string };
  /** Empty if the server does not report anything: opening the file then shows whether it exists. */
  stat(signal: AbortSignal): Promise<FileInfo>;
  /**
   * Opens the file at `offset` if the server still has the version of `validator`, else at the beginning. With `reusesBuffers`, a chunk of the stream
   * may be overwritten once the next one is requested; the last one stays.
   */
  open(
    offset: number,
    validator: string | undefined,
    signal: AbortSignal,
    reusesBuffers?: boolean,
  ): Promise<OpenFile>;
}

/** A file to write. */
export interface FileUpload {
  /** In bytes; undefined if unknown until the content ends. */
  size: number | undefined;
  /** `sha256:<hex>`; undefined if unknown until the content ends. */
  digest: string | undefined;
  mediaType: string;
  /** The base name of the file. */
  name: string;
  /** The source version, to be stored beside the file if the server supports that (`FileInfo.origin`). */
  origin: string | undefined;
  /**
   * The content from its beginning, anew for every attempt. Its last chunk is yielded only after size and digest are verified; otherwise it
   * throws, and nothing may be stored. A chunk may be overwritten once the next one is requested.
   */
  content: (signal: AbortSignal) => AsyncIterable<Uint8Array>;
  /** Size and digest of the content. Throws until the content has been read completely once. */
  identity: () => FileIdentity;
}

export interface FileIdentity {
  size: number;
  /** `sha256:<hex>`. */
  digest: string;
}

/** A place for one file. Each operation rejects with a TransferError and may be repeated. */
export interface FileSink {
  readonly label: string;
  /**
   * The current file; undefined if there is none, or if the server does not report it. With `verify`, metadata is not trusted as proof of
   * the content.
   */
  head(signal: AbortSignal, verify?: boolean): Promise<FileInfo | undefined>;
  /** Replaces the file atomically. Resolves with warnings once the stored file is known to equal the content. */
  put(upload: FileUpload, signal: AbortSignal): Promise<string[]>;
  /** The stored file, to be read back. */
  readonly readBack: FileSource;
  /** Set if files can be copied server-side from a source whose `within` names the same storage. */
  readonly storage?: string;
  /**
   * Copies the file server-side from `path`, which must still have the version `validator`. False if that is not possible. Called only
   * after the content was verified: `upload.identity()` returns its digest.
   */
  copyWithin?(path: string, validator: string, upload: FileUpload, signal: AbortSignal): Promise<boolean>;
}
