import type { KeyObject } from 'node:crypto';

/** Common inputs of all parts of a release. */
export interface ReleaseContext {
  /** Output folder. */
  folder: string;
  /** Folder for temporary files; removed at the end. */
  workFolder: string;
  version: string;
  /** Time of all files and statements, in seconds since 1970. */
  time: number;
  /** `host/path` under which the image will be published. */
  image: string;
  /** Download URL of the files. */
  url: string;
  /** The base image; without it the image contains libraries of Debian. */
  base?: string;
  /** Signing key for checksums, provenance and image. */
  key?: KeyObject;
  note: (text: string) => void;
  signal: AbortSignal;
}

export const architectures = ['amd64', 'arm64'] as const;
export type Architecture = (typeof architectures)[number];

/** Names of the architecture in npm and Node, and in Debian's multiarch folders. */
export const otherNames: Readonly<Record<Architecture, { node: 'x64' | 'arm64'; gnu: string }>> = {
  amd64: { node: 'x64', gnu: 'x86_64-linux-gnu' },
  arm64: { node: 'arm64', gnu: 'aarch64-linux-gnu' },
};
