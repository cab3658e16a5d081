import { ArcError } from '#shared/base/errors';

/** version.Info for /version. Every field is required by some client library. */
export interface VersionInfo {
  major: string;
  minor: string;
  gitVersion: string;
  gitCommit: string;
  gitTreeState: string;
  buildDate: string;
  goVersion: string;
  compiler: string;
  platform: string;
}

/**
 * Returns the document of /version for a version such as `1.34.0` or `v1.34.0+arc.1`. kubectl refuses a gitVersion that is not a semantic
 * version, and warns if it is more than one minor version away from its own. Throws InternalError for an invalid version.
 */
export function versionInfo(version: string): VersionInfo {
  const parts = /^v?((\d+)\.(\d+)\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?)$/.exec(version);
  if (!parts) {
    throw new ArcError(
      'InternalError',
      `"${version}" is not a semantic version such as v1.34.0, which /version must report`,
    );
  }
  const [, plain = '', major = '', minor = ''] = parts;
  return {
    major,
    minor,
    gitVersion: `v${plain}`,
    gitCommit: '',
    gitTreeState: '',
    buildDate: '1970-01-01T00:00:00Z',
    goVersion: '',
    compiler: '',
    platform: `${process.platform}/${process.arch}`,
  };
}
