import path from 'node:path';
import { type Architecture, otherNames } from './context.ts';
import { installedVersion, npmPackage } from './npm-package.ts';

/** The runtime of the programs for one architecture. */
export interface Runtime {
  architecture: Architecture;
  version: string;
  /** Node's executable, and its licence. */
  file: string;
  license: string;
  /** lmdb's addon, for the standalone. */
  addon: string;
}

/** Finds the tested Node version, for any architecture. */
export async function findRuntime(architecture: Architecture, signal: AbortSignal): Promise<Runtime> {
  const { node } = otherNames[architecture];
  const version = installedVersion('node');
  const folder = await npmPackage(`node-linux-${node}`, version, signal);
  const lmdb = await npmPackage(`@lmdb/lmdb-linux-${node}`, installedVersion('lmdb'), signal);
  return {
    architecture,
    version,
    file: path.join(folder, 'bin', 'node'),
    license: path.join(folder, 'LICENSE'),
    addon: path.join(lmdb, 'node.napi.glibc.node'),
  };
}
