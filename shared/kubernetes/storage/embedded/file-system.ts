import { statfs } from 'node:fs/promises';
import { ArcError } from '#shared/base/errors';

/**
 * File systems that another kernel may have mounted at the same time (statfs(2), linux/magic.h). A lock of this kernel does not keep processes
 * of another one out, and LMDB's memory map is not coherent between them.
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

/** What virtual machines, sandboxes and Windows drives of WSL show their host's folders by. */
const ofHosts: ReadonlySet<string> = new Set(['9p', 'FUSE', 'vboxsf', 'hgfs']);

/** The name of a file system that several kernels may share, by the type that statfs gives; undefined for a local one. */
export function sharedFileSystem(type: number): string | undefined {
  // On 32-bit platforms the type is a signed number.
  return sharedByKernels.get(type >>> 0);
}

/** Throws ArcError `Invalid` if other machines may have the folder's file system mounted. Linux tells; elsewhere nothing is checked. */
export async function requireLocalFileSystem(folder: string, read: typeof statfs = statfs): Promise<void> {
  if (process.platform !== 'linux') return;
  const name = sharedFileSystem((await read(folder)).type);
  if (name === undefined) return;
  const message =
    `the store cannot be in ${folder}: it is on a ${name} file system, where a lock does not reach processes of ` +
    `other machines, virtual machines or sandboxes; choose a folder on a local disk${adviceFor(name)}`;
  throw new ArcError('Invalid', message);
}

function adviceFor(name: string): string {
  if (!ofHosts.has(name)) return '';
  const advice = ': one inside the virtual machine or WSL, or in a container a volume of its engine';
  return name === 'FUSE' ? `${advice}, and none of sshfs, rclone or ntfs-3g` : advice;
}
