import type { Cause } from '#shared/base/errors';
import { invalid, quoted } from '../values/causes.ts';
import { longestSchedule } from '../values/limits.ts';

/**
 * The tokens allowed in a condition of Argo's CronWorkflow: counts and last time of the schedule itself, numbers, comparisons. Argo's
 * evaluator has many other functions, which would run in its controller with the rights and the memory of all tenants.
 */
const token =
  /cronworkflow\.(?:failed|succeeded|lastScheduledTime)\b|\.(?:Seconds|Minutes|Hours)\(\)|now\(\)|(?:nil|true|false|and|or|not)\b|\d{1,9}(?:\.\d{1,3})?\b|[=!<>]=|&&|\|\||[!<>()+-]|\s+/y;

const example =
  '{{= cronworkflow.lastScheduledTime == nil || (now() - cronworkflow.lastScheduledTime).Hours() > 20 }}';

/** Returns what is wrong with `cron.when`: Argo evaluates it, so only a small part of its language is accepted. */
export function whenCauses(field: string, when: string | undefined): Cause[] {
  if (when === undefined || when === '') return [];
  const problem = problemOf(when);
  return problem === undefined ? [] : [invalid(field, `Invalid value: ${quoted(when)}: ${problem}`)];
}

function problemOf(when: string): string | undefined {
  if (when.length > longestSchedule) return `must have at most ${longestSchedule} characters`;
  const expression = /^\{\{=([^{}]*)\}\}$/.exec(when.trim())?.[1];
  if (expression === undefined) return `must be one expression in braces, as in ${example}`;
  let open = 0;
  for (let at = 0; at < expression.length; at = token.lastIndex) {
    token.lastIndex = at;
    const [found] = token.exec(expression) ?? [];
    if (found === undefined) {
      const rest = quoted(expression.slice(at, at + 20));
      return `at ${rest}: may hold only cronworkflow.failed, .succeeded and .lastScheduledTime, now(), numbers, comparisons, && || ! and parentheses`;
    }
    if (found === '(') open += 1;
    if (found === ')') open -= 1;
    if (open < 0) break;
  }
  return open === 0 ? undefined : 'its parentheses do not match';
}
