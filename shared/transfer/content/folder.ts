/** A file of a folder. */
export interface ListedFile {
  /** Below the folder: names with `/` between them, not escaped. */
  path: string;
  /** In bytes, where the listing tells it. */
  size?: number;
}

/** A folder of a file server, or a prefix of a storage, with all that is below it. Each operation rejects with a TransferError. */
export interface FileFolder {
  /** For messages: `folder "a/b/" of server host`. */
  readonly label: string;
  /** All files at any depth; none if the folder does not exist. */
  list(signal: AbortSignal): Promise<ListedFile[]>;
  /** Deletes one file; one that is gone is no failure. */
  remove(path: string, signal: AbortSignal): Promise<void>;
}

/** Most files of a folder that are moved as one artifact. */
export const mostFiles = 10_000;
