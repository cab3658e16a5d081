import { statfs } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { requireLocalFileSystem, sharedFileSystem } from './file-system.ts';

describe('the file system of a store', () => {
  it.each([
    [0xef53, 'ext4'],
    [0x58465342, 'xfs'],
    [0x9123683e, 'btrfs'],
    [0x01021994, 'tmpfs'],
    [0x794c7630, 'overlay'],
    [0x2fc12fc1, 'zfs'],
  ])('%i (%s) is local', (type) => {
    expect(sharedFileSystem(type)).toBeUndefined();
  });

  it.each([
    [0x6969, 'NFS'],
    [0xff534d42 | 0, 'CIFS'],
    [0x65735546, 'FUSE'],
    [0x01021997, '9p'],
    [0xbacbacbc, 'hgfs'],
    [0xbacbacbc | 0, 'hgfs'],
    [0x6b414653, 'AFS'],
  ])('%i (%s) may be mounted by other kernels', (type, name) => {
    expect(sharedFileSystem(type)).toBe(name);
  });

  it.runIf(process.platform === 'linux')('is refused by its name, with what to do', async () => {
    const nfs: typeof statfs = async () => ({ ...(await statfs('/')), type: 0x6969 }) as never;
    const refused = requireLocalFileSystem('/mnt/shared', nfs);
    await expect(refused).rejects.toMatchObject({ code: 'Invalid' });
    await expect(refused).rejects.toThrow(
      /cannot be in \/mnt\/shared: it is on a NFS file system.+local disk/,
    );
  });

  it.runIf(process.platform === 'linux')(
    'says where a folder of the host may be replaced by a local one',
    async () => {
      const fuse: typeof statfs = async () => ({ ...(await statfs('/')), type: 0x65735546 }) as never;
      await expect(requireLocalFileSystem('/mnt/host', fuse)).rejects.toThrow(
        /on a FUSE file system.+local disk: .*inside the virtual machine or WSL.+volume.+sshfs/,
      );
    },
  );
});
