#!/usr/bin/env node
/** `arcctl`, and `kubectl arc`: looks at Orders and drives them. docs/arcctl.md */
const [major = 0] = process.versions.node.split('.').map(Number);
if (major < 22) {
  process.stderr.write(`arcctl needs Node 22 or later, and this is Node ${process.versions.node}\n`);
  process.exit(2);
}
// Loaded after the check: an older Node would stop at its first line with less to say.
const { main } = await import('./program.ts');
await main(process.argv);

export {};
