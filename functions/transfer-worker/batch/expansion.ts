import type { ContentSource, ImageName, TransferContext } from '#shared/transfer';

/** One of the artifacts that an artifact expands to. */
export interface Found {
  /** Its name in the result. */
  source: string;
  /** Its name at the destination. */
  name: ImageName;
  open(context: TransferContext): Promise<ContentSource>;
}

/** The artifacts that an artifact expands to. */
export interface Expansion {
  items: Found[];
  /** Copied after all others. */
  last?: Found;
  warnings: string[];
}
