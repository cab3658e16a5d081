import manifest from '../../package.json' with { type: 'json' };

/** The version of ARC and of each of its programs, from package.json. */
export const version: string = manifest.version;
