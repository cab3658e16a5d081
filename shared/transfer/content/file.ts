import type { ByteStream } from '../http/body.ts';

/** What a server tells of a file without its content. Each part is absent where the server does not tell it. */
export interface FileInfo {
  /** In bytes. */
  size?: number;
  /** Changes with the content: a strong ETag (RFC 9110, 8.8.3), in quotes. */
  validator?: string;
  /** `sha256:<hex>` as the server keeps it: a claim, unless `proven`. */
  digest?: string;
  /** True if the server computed `digest` itself of what it holds. */
  proven?: boolean;
  mediaType?: string;
  /** Where the content came from and in which version, as the copy that wrote it noted (`versionOf`). */
  origin?: string;
}

/** A file from a byte on. */
export interface OpenFile {
  /** The first byte of the stream; 0 if the server ignored the requested offset, or has another version of the file by now. */
  start: number;
  info: FileInfo;
  stream: ByteStream;
  /** False if the end of the stream may be the end of a broken connection: the response had neither length nor chunks. */
  bounded: boolean;
}

/** A file to read. Each operation rejects with a TransferError whose message names server and file. */
export interface FileSource {
  /** For messages: `file "a/b" of server host`. */
  readonly label: string;
  /** Identifies the file among all servers. It contains no credentials. */
  readonly url: string;
  /** Set if a storage can copy the file within itself: the name of the storage and account, and the file's in it. */
  readonly within?: { storage: string; path: string };
  /** Empty where the server does not tell: whether the file exists shows when it is opened. */
  stat(signal: AbortSignal): Promise<FileInfo>;
  /** From `offset` on, if the server still has the version of `validator`, else from the beginning. */
  open(offset: number, validator: string | undefined, signal: AbortSignal): Promise<OpenFile>;
}

/** What is to be written. */
export interface FileUpload {
  /** In bytes; undefined if the source does not tell it before its end. */
  size: number | undefined;
  /** `sha256:<hex>`; undefined if it is only known at the end of the content. */
  digest: string | undefined;
  mediaType: string;
  /** The base name of the file. */
  name: string;
  /** To be kept beside the file, where the server can (`FileInfo.origin`). */
  origin: string | undefined;
  /**
   * The content from its beginning, for every attempt anew. Its last chunk comes only when size and digest are verified; otherwise it
   * throws, and then nothing may be kept.
   */
  content: (signal: AbortSignal) => AsyncIterable<Uint8Array>;
  /** Size and digest of the content, after a first reader came to its end. */
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
   * What is there now; undefined if nothing is, or if the server does not tell. With `verify`, a description of the file is not taken for its
   * content.
   */
  head(signal: AbortSignal, verify?: boolean): Promise<FileInfo | undefined>;
  /** Replaces what is there, as a whole. Resolves with warnings once the file is there and as it was sent. */
  put(upload: FileUpload, signal: AbortSignal): Promise<string[]>;
  /** The file at this place, to be read back. */
  readonly readBack: FileSource;
  /** Set if it can copy files within itself, of a source whose `within` names the same storage. */
  readonly storage?: string;
  /**
   * Has the storage copy the file from `path`, which must still have the version `validator`. False if it cannot. Called only once the
   * content has been verified: `upload.read()` tells it.
   */
  copyWithin?(path: string, validator: string, upload: FileUpload, signal: AbortSignal): Promise<boolean>;
}
