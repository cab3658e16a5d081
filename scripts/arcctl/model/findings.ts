/** What `arcctl doctor` found out about one thing. */
export interface Finding {
  check: string;
  /** `unknown`: the user may not look, or nobody can tell. */
  state: 'ok' | 'bad' | 'warn' | 'unknown';
  message: string;
  /** The command that mends it. */
  fix?: string;
}

export function good(check: string, message: string): Finding {
  return { check, state: 'ok', message };
}

export function bad(check: string, message: string, fix: string): Finding {
  return { check, state: 'bad', message, fix };
}

export function warn(check: string, message: string, fix: string): Finding {
  return { check, state: 'warn', message, fix };
}

export function unknown(check: string, message: string): Finding {
  return { check, state: 'unknown', message };
}

interface Condition {
  type?: string;
  status?: string;
  reason?: string;
  message?: string;
}

/** What an object with conditions says of itself. `fix` where the condition is not True. */
export function conditionFinding(
  check: string,
  conditions: readonly Condition[],
  type: string,
  fix: string,
): Finding {
  const found = conditions.find((each) => each.type === type);
  if (found?.status === 'True') return good(check, found.message || found.reason || type);
  const why = [found?.reason, found?.message].filter((text) => text !== undefined && text !== '').join(': ');
  return bad(check, why || `it does not say that it is ${type}`, fix);
}

const dayMs = 86_400_000;

/** A certificate (PEM or DER in `validTo`) that ends within two weeks is worth a warning; renewal takes place long before. */
export function certificateFinding(check: string, validTo: Date, now: Date, fix: string): Finding {
  const left = validTo.getTime() - now.getTime();
  if (Number.isNaN(left)) return bad(check, 'it cannot be read', fix);
  const until = `until ${validTo.toISOString().slice(0, 10)}`;
  if (left <= 0) return bad(check, `it was valid ${until}`, fix);
  return left < 14 * dayMs ? warn(check, `it is valid ${until} only`, fix) : good(check, `valid ${until}`);
}
