import type { ConsoleApp } from '../../../build/console.ts';

/**
 * Returns the front end. It is bundled when it is first asked for; in the bundle of arcctl another module stands here, which has it already
 * (scripts/build/console.ts).
 */
export async function loadConsole(): Promise<ConsoleApp> {
  const [{ buildConsole }, { stop }] = await Promise.all([
    import('../../../build/console.ts'),
    import('esbuild'),
  ]);
  const app = await buildConsole();
  // Its service is a process of its own, which is used once.
  await stop();
  return app;
}
