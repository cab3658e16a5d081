#!/usr/bin/env node
/** `arcctl`, and `kubectl arc`: shows and manages Orders. docs/arcctl.md */
import { requireNode } from './core/node-version.ts';

requireNode();
// Imported after the check: an older Node would fail with a syntax error instead of a message.
const { main } = await import('./program.ts');
await main(process.argv);
