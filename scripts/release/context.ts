import type { KeyObject } from 'node:crypto';

/** What every part of a release is made with. */
export interface ReleaseContext {
  /** Where the files of the release are written. */
  folder: string;
  /** For files on the way; removed at the end. */
  workFolder: string;
  version: string;
  /** Seconds since 1970 of every file and every statement. */
  time: number;
  /** `host/path` that the image will be published under. */
  image: string;
  /** Where the files will be downloaded from. */
  url: string;
  /** The image below ours; without it ours brings the libraries of Debian. */
  base?: string;
  /** Signs checksums, provenance and image. */
  key?: KeyObject;
  note: (text: string) => void;
  signal: AbortSignal;
}

export const architectures = ['amd64', 'arm64'] as const;
export type Architecture = (typeof architectures)[number];

/** As npm, Node and Debian's multiarch folders name them. */
export const otherNames: Readonly<Record<Architecture, { node: 'x64' | 'arm64'; gnu: string }>> = {
  amd64: { node: 'x64', gnu: 'x86_64-linux-gnu' },
  arm64: { node: 'arm64', gnu: 'aarch64-linux-gnu' },
};
