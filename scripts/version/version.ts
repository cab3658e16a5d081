import manifest from '../../package.json' with { type: 'json' };

/** The version of ARC and of each of its programs. package.json is the one place that has it. */
export const version: string = manifest.version;
