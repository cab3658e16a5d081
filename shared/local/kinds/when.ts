import { ArcError } from '#shared/base/errors';

/** What a condition can see of its CronWorkflow; times in ms since the epoch. */
export interface WhenInput {
  failed: number;
  succeeded: number;
  /** Absent before the first run. */
  lastScheduledTime: number | undefined;
  now: number;
}

/** A value of the expression language, as Argo's evaluator (expr-lang) types it. Times and durations are in ms. */
type Value =
  | { type: 'number' | 'time' | 'duration'; value: number }
  | { type: 'boolean'; value: boolean }
  | { type: 'nil'; value: 0 };
type Expression = (input: WhenInput) => Value;

const token =
  /\s*(cronworkflow\.(?:failed|succeeded|lastScheduledTime)\b|\.(?:Seconds|Minutes|Hours)\(\)|now\(\)|(?:nil|true|false|and|or|not)\b|\d{1,9}(?:\.\d{1,3})?\b|[=!<>]=|&&|\|\||[!<>()+-])/y;
const unitMs: Record<string, number> = { '.Seconds()': 1e3, '.Minutes()': 60e3, '.Hours()': 3_600e3 };

/**
 * Parses `when` of a CronWorkflow: the part of Argo's language that the API server accepts (`whenCauses` of shared/domain).
 * @returns whether a run may take place; the returned function throws Invalid where types do not fit, such as `nil > 1`
 * @throws Invalid for anything else
 */
export function parseWhen(when: string): (input: WhenInput) => boolean {
  const text = /^\{\{=([^{}]*)\}\}$/.exec(when.trim())?.[1];
  if (text === undefined) throw invalid('must be one expression in {{= }}');
  const parser = new Parser(tokensOf(text));
  const expression = parser.or();
  parser.end();
  return (input) => booleanOf(expression(input));
}

function tokensOf(text: string): string[] {
  const tokens: string[] = [];
  for (let at = 0; text.slice(at).trim() !== ''; at = token.lastIndex) {
    token.lastIndex = at;
    const found = token.exec(text)?.[1];
    if (found === undefined)
      throw invalid(`the standalone cannot evaluate it from ${text.slice(at, at + 20)} on`);
    tokens.push(found);
  }
  return tokens;
}

/** Recursive descent, weakest operator first. */
class Parser {
  private readonly tokens: readonly string[];
  private at = 0;

  constructor(tokens: readonly string[]) {
    this.tokens = tokens;
  }

  or(): Expression {
    return this.binary(
      ['||', 'or'],
      () => this.and(),
      (_, left, right) => (input) => (booleanOf(left(input)) ? truth(true) : truth(booleanOf(right(input)))),
    );
  }

  end(): void {
    if (this.at < this.tokens.length) throw invalid(`unexpected ${this.tokens[this.at]}`);
  }

  private and(): Expression {
    return this.binary(
      ['&&', 'and'],
      () => this.comparison(),
      (_, left, right) => (input) => (booleanOf(left(input)) ? truth(booleanOf(right(input))) : truth(false)),
    );
  }

  private comparison(): Expression {
    return this.binary(
      ['==', '!=', '<=', '>=', '<', '>'],
      () => this.sum(),
      (operator, left, right) => (input) => truth(compare(operator, left(input), right(input))),
    );
  }

  private sum(): Expression {
    return this.binary(
      ['+', '-'],
      () => this.unary(),
      (operator, left, right) => (input) => add(left(input), right(input), operator === '-' ? -1 : 1),
    );
  }

  private unary(): Expression {
    if (this.take('!', 'not')) {
      const operand = this.unary();
      return (input) => truth(!booleanOf(operand(input)));
    }
    if (this.take('-')) {
      const operand = this.unary();
      return (input) => add({ type: 'number', value: 0 }, operand(input), -1);
    }
    return this.postfix(this.primary());
  }

  private primary(): Expression {
    const found = this.tokens[this.at];
    this.at += 1;
    if (found === '(') {
      const inner = this.or();
      if (!this.take(')')) throw invalid('its parentheses do not match');
      return inner;
    }
    const constant = found === undefined ? undefined : constantOf(found);
    if (constant === undefined)
      throw invalid(found === undefined ? 'it ends too early' : `unexpected ${found}`);
    return constant;
  }

  private postfix(operand: Expression): Expression {
    const unit = this.take(...Object.keys(unitMs));
    if (unit === undefined) return operand;
    return this.postfix((input) => {
      const { type, value } = operand(input);
      if (type !== 'duration') throw invalid(`${unit} is of a duration, and not of a ${type}`);
      return { type: 'number', value: value / (unitMs[unit] ?? 1) };
    });
  }

  private binary(
    operators: readonly string[],
    operand: () => Expression,
    join: (operator: string, left: Expression, right: Expression) => Expression,
  ): Expression {
    let left = operand();
    for (let found = this.take(...operators); found !== undefined; found = this.take(...operators))
      left = join(found, left, operand());
    return left;
  }

  private take(...wanted: readonly string[]): string | undefined {
    const found = this.tokens[this.at];
    if (found === undefined || !wanted.includes(found)) return undefined;
    this.at += 1;
    return found;
  }
}

function constantOf(found: string): Expression | undefined {
  if (found === 'now()') return ({ now }) => ({ type: 'time', value: now });
  if (found === 'cronworkflow.failed') return ({ failed }) => ({ type: 'number', value: failed });
  if (found === 'cronworkflow.succeeded') return ({ succeeded }) => ({ type: 'number', value: succeeded });
  if (found === 'cronworkflow.lastScheduledTime')
    return ({ lastScheduledTime }) =>
      lastScheduledTime === undefined
        ? { type: 'nil', value: 0 }
        : { type: 'time', value: lastScheduledTime };
  if (found === 'nil') return () => ({ type: 'nil', value: 0 });
  if (found === 'true' || found === 'false') return () => truth(found === 'true');
  return /^\d/.test(found) ? () => ({ type: 'number', value: Number(found) }) : undefined;
}

function compare(operator: string, left: Value, right: Value): boolean {
  const isSame = left.type === right.type && left.value === right.value;
  if (operator === '==') return isSame;
  if (operator === '!=') return !isSame;
  if (left.type !== right.type || left.type === 'boolean' || left.type === 'nil')
    throw invalid(`cannot compare a ${left.type} with a ${right.type}`);
  const difference = Number(left.value) - Number(right.value);
  if (operator === '<') return difference < 0;
  if (operator === '>') return difference > 0;
  return operator === '<=' ? difference <= 0 : difference >= 0;
}

function add(left: Value, right: Value, sign: 1 | -1): Value {
  const value = Number(left.value) + sign * Number(right.value);
  const types = `${left.type} ${right.type}`;
  if (types === 'number number') return { type: 'number', value };
  if (types === 'duration duration') return { type: 'duration', value };
  if (types === 'time duration') return { type: 'time', value };
  if (types === 'time time' && sign === -1) return { type: 'duration', value };
  throw invalid(
    `cannot ${sign === 1 ? 'add' : 'subtract'} a ${right.type} ${sign === 1 ? 'to' : 'from'} a ${left.type}`,
  );
}

function booleanOf({ type, value }: Value): boolean {
  if (type === 'boolean') return value;
  throw invalid(`a ${type} is neither true nor false`);
}

function truth(value: boolean): Value {
  return { type: 'boolean', value };
}

function invalid(problem: string): ArcError {
  return new ArcError('Invalid', `when: ${problem}`);
}
