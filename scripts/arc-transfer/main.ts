#!/usr/bin/env node
/** `arc-transfer`: does what a worker does, from the command line. docs/arc-transfer.md */
const [major = 0] = process.versions.node.split('.').map(Number);
if (major < 22) {
  process.stderr.write(`arc-transfer needs Node 22 or later, but this is Node ${process.versions.node}\n`);
  process.exit(2);
}
// Loaded after the check, because an older Node would fail on the first line without an explanation.
const { run } = await import('./program.ts');
const stop = new AbortController();
// Once: a second Ctrl-C kills a command that does not stop.
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort(name));
const { stdout, stderr, env } = process;
// A closed reader, such as `| head`, ends the process silently, as SIGPIPE would.
for (const stream of [stdout, stderr])
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit(141);
  });
const exitCode = await run(process.argv.slice(2), {
  stdout,
  stderr,
  env,
  signal: stop.signal,
  // Node opens the standard input on first access.
  get stdin() {
    return process.stdin;
  },
});
// Flushes writes to pipes.
await Promise.all([stdout, stderr].map((stream) => new Promise((done) => stream.write('', done))));
process.exit(exitCode);

export {};
