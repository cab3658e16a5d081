import { ArcError } from '#shared/base/errors';

/** version.Info, the answer to /version. Clients of one language or another need each of the fields. */
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
 * `1.34.0` or `v1.34.0+arc.1` -> the answer of /version. kubectl refuses a gitVersion that is not a semantic version, and
 * warns when it is more than one minor version away from its own. Throws InternalError for a text that is not a semantic version.
 */
export function versionInfo(version: string): VersionInfo {
  const parts = /^v?((\d+)\.(\d+)\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?)$/.exec(version);
  if (!parts) {
    throw new ArcError(
      'InternalError',
      `"${version}" is not a semantic version such as v1.34.0, which /version has to report`,
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
