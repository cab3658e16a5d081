/** A file in a folder. */
export interface ListedFile {
  /** Relative to the folder: unescaped names separated by `/`. */
  path: string;
  /** In bytes, if the listing reports it. */
  size?: number;
}

/** A folder of a file server, or a prefix of a storage, with everything below it. Each operation rejects with a TransferError. */
export interface FileFolder {
  /** For messages: `folder "a/b/" of server host`. */
  readonly label: string;
  /** All files at any depth; empty if the folder does not exist. */
  list(signal: AbortSignal): Promise<ListedFile[]>;
  /** Deletes one file; succeeds if the file does not exist. */
  remove(path: string, signal: AbortSignal): Promise<void>;
}

/** Maximum number of files of a folder that is moved as one artifact. */
export const maxFolderFiles = 10_000;
