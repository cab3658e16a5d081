/** A finding of `arcctl doctor`. */
export interface Finding {
  check: string;
  /** `unknown`: no permission to check, or undecidable. */
  state: 'ok' | 'bad' | 'warn' | 'unknown';
  message: string;
  /** The command that fixes it. */
  fix?: string;
}

export function passed(check: string, message: string): Finding {
  return { check, state: 'ok', message };
}

export function failed(check: string, message: string, fix: string): Finding {
  return { check, state: 'bad', message, fix };
}

export function warning(check: string, message: string, fix: string): Finding {
  return { check, state: 'warn', message, fix };
}

export function undecided(check: string, message: string): Finding {
  return { check, state: 'unknown', message };
}

interface Condition {
  type?: string;
  status?: string;
  reason?: string;
  message?: string;
}

/** Returns the finding for an object's condition. `fix` is for a condition that is not True. */
export function conditionFinding(
  check: string,
  conditions: readonly Condition[],
  type: string,
  fix: string,
): Finding {
  const found = conditions.find((each) => each.type === type);
  if (found?.status === 'True') return passed(check, found.message || found.reason || type);
  const why = [found?.reason, found?.message].filter((text) => text !== undefined && text !== '').join(': ');
  return failed(check, why || `condition ${type} is not True`, fix);
}

const dayMs = 86_400_000;

/** Warns about a certificate (PEM or DER in `validTo`) that expires within two weeks: renewal should have happened long before. */
export function certificateFinding(check: string, validTo: Date, now: Date, fix: string): Finding {
  const left = validTo.getTime() - now.getTime();
  if (Number.isNaN(left)) return failed(check, 'unreadable', fix);
  const until = `until ${validTo.toISOString().slice(0, 10)}`;
  if (left <= 0) return failed(check, `expired: it was valid ${until}`, fix);
  return left < 14 * dayMs
    ? warning(check, `expires soon: valid ${until}`, fix)
    : passed(check, `valid ${until}`);
}
