/** Configuration from the environment, checked once at start. */
export { readConfig } from './read-config.ts';
