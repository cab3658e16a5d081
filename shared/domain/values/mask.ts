const masked = '***';

/** A name that precedes a credential, its separator, and the value in quotes or up to the next blank. */
const named =
  /([\w.-]{0,40}(?:passw(?:or)?d|passphrase|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|credentials?)[\w.-]{0,40}["']?[ \t]{0,4}[=:][ \t]{0,4})("[^"\n]{0,4096}"|'[^'\n]{0,4096}'|[^\s,;&"']+)/gi;

/** Patterns of credentials with their replacements. No pattern backtracks further than a few characters. */
const patterns: ReadonlyArray<readonly [RegExp, string]> = [
  [
    /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----(?:(?!-----END)[\s\S])*(?:-----END [A-Z ]{0,40}PRIVATE KEY-----)?/g,
    masked,
  ],
  // The end of a key whose beginning was cut off.
  [/^[\s\S]*-----END [A-Z ]{0,40}PRIVATE KEY-----/g, masked],
  [/(\/\/)[^\s/"'@]{1,4096}@/g, `$1${masked}@`],
  [
    /(\bauthorization["']?[ \t]{0,4}[:=][ \t]{0,4}["']?)(?:(?:basic|bearer|token)[ \t]{1,4})?[^\s"',]+/gi,
    `$1${masked}`,
  ],
  [/\b(basic|bearer)[ \t]{1,4}[\w.~+/=-]{16,}/gi, `$1 ${masked}`],
  [/\beyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?/g, masked],
  [named, `$1${masked}`],
];

/**
 * Returns a function that masks the lines of one log, in their order: as `maskCredentials`, and the lines of a private key, which none of them
 * gives away by itself.
 */
export function createLineMasker(): (line: string) => string {
  let isInKey = false;
  return (line) => {
    const isEnd = /-----END [A-Z ]{0,40}PRIVATE KEY-----/.test(line);
    const isWithin = isInKey;
    isInKey = !isEnd && (isInKey || /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----/.test(line));
    return isWithin ? masked : maskCredentials(line);
  };
}

/**
 * Masks credentials in the text of an unknown program: passwords in URLs, Authorization headers, tokens, private keys, and values
 * behind names such as `password=`. Masks too much rather than too little.
 */
export function maskCredentials(text: string): string {
  return patterns.reduce((rest, [pattern, by]) => rest.replace(pattern, by), text);
}
