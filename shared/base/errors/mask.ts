const mask = '***';
const minSecretLength = 4;

/** Returns the forms in which a secret can appear in a message: plain, base64, and escaped for a URL or for JSON. */
function forms(secret: string): string[] {
  const base64 = Buffer.from(secret).toString('base64');
  return [
    secret,
    base64,
    base64.replace(/=+$/, ''),
    encodeURIComponent(secret),
    JSON.stringify(secret).slice(1, -1),
  ];
}

/**
 * Replaces every occurrence of every secret in `text` with `***`. Secrets shorter than four characters are not masked: that would make the
 * message unreadable and protect nothing.
 */
export function maskSecrets(text: string, secrets: Iterable<string>): string {
  const all = new Set<string>();
  for (const secret of secrets) {
    if (secret.length >= minSecretLength) for (const form of forms(secret)) all.add(form);
  }
  // Longest first: otherwise a secret that is part of another would leave the rest of that one readable.
  const ordered = [...all].sort((a, b) => b.length - a.length);
  return ordered.reduce((masked, form) => masked.replaceAll(form, mask), text);
}

/** Collects the secrets of a transfer (passwords, then tokens), which must never be printed. */
export interface Masker {
  add(secret: string): void;
  apply(text: string): string;
}

const maxSecrets = 1000;

/** Creates a Masker with `initial` secrets. Beyond 1,000 added secrets it drops the oldest added one, never an initial one. */
export function createMasker(initial: Iterable<string> = []): Masker {
  const fixed = new Set(initial);
  const learned = new Set<string>();
  return {
    add(secret) {
      learned.add(secret);
      if (learned.size <= maxSecrets) return;
      for (const oldest of learned) {
        learned.delete(oldest);
        return;
      }
    },
    apply: (text) => maskSecrets(text, [...fixed, ...learned]),
  };
}
