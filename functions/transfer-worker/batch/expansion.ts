import type { ContentSource, ImageName, TransferContext } from '#shared/transfer';

/** One of the artifacts that an artifact stands for. */
export interface Found {
  /** How the result calls it. */
  source: string;
  /** How it is called at the destination. */
  name: ImageName;
  open(context: TransferContext): Promise<ContentSource>;
}

/** The artifacts that an artifact stands for. */
export interface Expansion {
  items: Found[];
  /** Comes when all others are there. */
  last?: Found;
  warnings: string[];
}
