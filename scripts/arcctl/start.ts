#!/usr/bin/env node
/**
 * Starts the bundled arcctl that stands beside this file, with the compiled code that the start before has left in the cache folder of
 * the user: that is a third of the time to its first output. Where nothing can be kept it starts without.
 */
import module from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { requireNode } from './core/node-version.ts';

requireNode();
try {
  // Not in the folder for temporary files, Node's default: others can write there, and what is kept is run.
  const folder = process.env.XDG_CACHE_HOME || path.join(os.homedir(), '.cache');
  module.enableCompileCache?.(path.join(folder, 'arcctl'));
} catch {
  // Nobody has this uid, and so no home.
}
await import(new URL('./arcctl.mjs', import.meta.url).href);
