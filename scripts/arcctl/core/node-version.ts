/** Exits with a message under a Node version that cannot run arcctl. */
export function requireNode(): void {
  const [major = 0] = process.versions.node.split('.').map(Number);
  if (major >= 22) return;
  process.stderr.write(`arcctl requires Node 22 or later; this is Node ${process.versions.node}\n`);
  process.exit(2);
}
