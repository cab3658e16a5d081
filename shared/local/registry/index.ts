/** A small OCI registry on loopback for the demo and the tests, with faults to order. */
export type { AuthMode } from './access.ts';
export { type Contents, type RepositoryContents, repositoryOf, type StoredManifest } from './contents.ts';
export type { Fault, FaultRule, Faults } from './faults.ts';
export { type Registry, type RegistryOptions, type RequestRecord, startRegistry } from './registry.ts';
export { pseudoRandom, type SeededImage, type SeedOptions, seedImage } from './seed.ts';
