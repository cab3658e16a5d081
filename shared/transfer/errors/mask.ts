const stars = '***';
const shortest = 4;

/** The forms in which one secret can appear in a message: as it is, base64, and escaped for a URL or for JSON. */
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
 * `text` with every occurrence of every secret replaced by `***`. Secrets under four characters are left alone: hiding
 * those would tear the message apart and protect nothing.
 */
export function maskSecrets(text: string, secrets: Iterable<string>): string {
  const all = new Set<string>();
  for (const secret of secrets) {
    if (secret.length >= shortest) for (const form of forms(secret)) all.add(form);
  }
  // Longest first, so that a secret within another does not leave the rest of the longer one readable.
  const ordered = [...all].sort((a, b) => b.length - a.length);
  return ordered.reduce((masked, form) => masked.replaceAll(form, stars), text);
}

/** Collects what must never be printed while a transfer learns of it (passwords, then tokens): bounded. */
export interface Masker {
  add(secret: string): void;
  apply(text: string): string;
}

const mostSecrets = 1000;

/** A Masker that knows `initial`. Beyond 1,000 secrets the oldest added ones are forgotten; the initial ones never. */
export function createMasker(initial: Iterable<string> = []): Masker {
  const fixed = new Set(initial);
  const learned = new Set<string>();
  return {
    add(secret) {
      learned.add(secret);
      if (learned.size <= mostSecrets) return;
      for (const oldest of learned) {
        learned.delete(oldest);
        return;
      }
    },
    apply: (text) => maskSecrets(text, [...fixed, ...learned]),
  };
}
