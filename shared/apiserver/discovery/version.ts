import { ArcError } from '#shared/errors';

/** version.Info, the answer to /version. All fields are needed by clients of some language. */
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
 * `1.34.0` or `v1.34.0+arc.1` -> what /version answers. kubectl refuses a gitVersion that is no semantic version, and
 * warns when it is more than one minor away from its own. Throws InternalError for one that is none.
 */
export function versionInfo(version: string): VersionInfo {
  const parts = /^v?((\d+)\.(\d+)\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?)$/.exec(version);
  if (!parts) {
    throw new ArcError(
      'InternalError',
      `"${version}" is no semantic version such as v1.34.0 for /version to report`,
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
