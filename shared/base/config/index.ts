/** Configuration from the environment, checked once at start. */
export { type ConfigSchema, readConfig } from './read-config.ts';
