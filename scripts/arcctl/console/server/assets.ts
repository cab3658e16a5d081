/** A file of the front end, compressed once. */
export interface Asset {
  /** Its name has a hash of its content: it may be kept for ever. */
  name: string;
  type: string;
  gzip: Uint8Array;
}

export interface ConsoleApp {
  assets: Asset[];
  /** Addresses: of the script and the style that a page begins with, and of the script that sets the theme before the first paint. */
  script: string;
  style: string;
  theme: string;
  icon: string;
}

/**
 * Returns the front end. It is bundled when it is first asked for; in the bundle of arcctl another module stands here, which has it already
 * (scripts/build/console.ts).
 */
export async function loadConsole(): Promise<ConsoleApp> {
  const { buildConsole } = await import('../../../build/console.ts');
  return buildConsole();
}
