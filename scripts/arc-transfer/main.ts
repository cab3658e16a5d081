#!/usr/bin/env node
/** `arc-transfer`: what a worker does, by hand. docs/arc-transfer.md */
const [major = 0] = process.versions.node.split('.').map(Number);
if (major < 22) {
  process.stderr.write(`arc-transfer needs Node 22 or later, and this is Node ${process.versions.node}\n`);
  process.exit(2);
}
// Loaded after the check: an older Node would stop at its first line with less to say.
const { run } = await import('./program.ts');
const stop = new AbortController();
// Once: the second Ctrl-C ends a command that does not end by itself.
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort(name));
const { stdout, stderr, env } = process;
// A reader that has gone, as with `| head`, ends the process without a word, as SIGPIPE would.
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
  // Node opens the standard input when it is looked at.
  get stdin() {
    return process.stdin;
  },
});
// What is written to a pipe may still be on its way.
await Promise.all([stdout, stderr].map((stream) => new Promise((done) => stream.write('', done))));
process.exit(exitCode);

export {};
