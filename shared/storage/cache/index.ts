/** A store's recent past and present in memory: lists and watches that cost the store nothing. */

export { type CacheOptions, cacheStore } from './cached-store.ts';
