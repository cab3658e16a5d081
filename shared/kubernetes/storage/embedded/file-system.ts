import { statfs } from 'node:fs/promises';
import { ArcError } from '#shared/base/errors';

/**
 * File systems that several kernels may mount at the same time (statfs(2), linux/magic.h). File locks do not exclude processes of other
 * kernels, and the memory map of LMDB is not coherent between them.
 */
const sharedByKernels: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xfe534d42, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0x01021997, '9p'],
  [0x65735546, 'FUSE'],
  [0x786f4256, 'vboxsf'],
  [0xbacbacbc, 'hgfs'],
  [0x00c36400, 'Ceph'],
  [0x5346414f, 'AFS'],
  [0x6b414653, 'AFS'],
  [0x73757245, 'Coda'],
  [0x01161970, 'GFS2'],
  [0x7461636f, 'OCFS2'],
  [0x0bd00bd0, 'Lustre'],
  [0x47504653, 'GPFS'],
  [0x19830326, 'BeeGFS'],
]);

/** File systems by which virtual machines, sandboxes and WSL mount folders of their host. */
const hostFileSystems: ReadonlySet<string> = new Set(['9p', 'FUSE', 'vboxsf', 'hgfs']);

/** Returns the name of a shared file system by its statfs type; undefined for a local file system. */
export function sharedFileSystem(type: number): string | undefined {
  // The type is signed on 32-bit platforms.
  return sharedByKernels.get(type >>> 0);
}

/** Throws ArcError `Invalid` if the file system of a folder may be mounted by other machines. Checked on Linux only. */
export async function requireLocalFileSystem(folder: string, read: typeof statfs = statfs): Promise<void> {
  if (process.platform !== 'linux') return;
  const name = sharedFileSystem((await read(folder)).type);
  if (name === undefined) return;
  const message =
    `the store cannot be in ${folder}: it is on a ${name} file system, where a lock does not exclude processes of ` +
    `other machines, virtual machines or sandboxes; choose a folder on a local disk${adviceFor(name)}`;
  throw new ArcError('Invalid', message);
}

function adviceFor(name: string): string {
  if (!hostFileSystems.has(name)) return '';
  const advice = ': one inside the virtual machine or WSL, or in a container a volume of its engine';
  return name === 'FUSE' ? `${advice}, and none of sshfs, rclone or ntfs-3g` : advice;
}
