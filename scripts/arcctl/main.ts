#!/usr/bin/env node
/** `arcctl`, and `kubectl arc`: looks at Orders and drives them. docs/arcctl.md */
import { requireNode } from './core/node-version.ts';

requireNode();
// Loaded after the check: an older Node would stop at its first line with less to say.
const { main } = await import('./program.ts');
await main(process.argv);
