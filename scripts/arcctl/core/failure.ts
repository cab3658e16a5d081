import { ArcError, printableLines } from '#shared/base/errors';

/** What the exit codes mean; docs/arcctl.md has the table. */
export const exitCodes = {
  ok: 0,
  /** The answer is no: it ended badly, it is not there, there are differences or findings. */
  no: 1,
  usage: 2,
  /** There is no cluster: no kubeconfig, no connection, or the credentials are refused. */
  unreachable: 3,
  /** `--timeout` or `--request-timeout` is over. */
  timeout: 4,
  /** The API refuses the request: a missing right, an invalid object, a conflict. */
  refused: 5,
  interrupted: 130,
  /** The reader of the output has gone, as with `| head`; what SIGPIPE would give. */
  pipe: 141,
} as const;

/** Ends a command with an exit code and, unless the output has said all, a message that names the next step. */
export class Failure extends Error {
  readonly exitCode: number;

  constructor(exitCode: number, message = '') {
    super(message);
    this.exitCode = exitCode;
  }
}

/** Wrong usage: the command line cannot be followed as it is. */
export function usage(message: string): Failure {
  return new Failure(exitCodes.usage, message);
}

/** What to print for a caught failure, and the exit code. */
export function describeFailure(caught: unknown): { exitCode: number; message: string } {
  if (caught instanceof Failure) return { exitCode: caught.exitCode, message: caught.message };
  const error = ArcError.from(caught);
  const { message } = error;
  switch (error.code) {
    case 'ServiceUnavailable':
      return {
        exitCode: exitCodes.unreachable,
        message: `${message}\nCheck the cluster with "arcctl doctor", or choose another one with --context.`,
      };
    case 'Unauthorized':
      return {
        exitCode: exitCodes.unreachable,
        message: `${message}: the cluster does not accept the credentials of this context. Sign in again, or choose another one with --context.`,
      };
    case 'Timeout':
      return { exitCode: exitCodes.timeout, message };
    case 'NotFound':
      return { exitCode: exitCodes.no, message: notFound(error) };
    default:
      return { exitCode: isOfApi(error) ? exitCodes.refused : exitCodes.no, message: withCauses(error) };
  }
}

function notFound({ message, details }: ArcError): string {
  if (details?.name !== undefined) return message;
  return `${message}\nDoes this cluster have ARC? Look with "arcctl doctor".`;
}

/** The message of a Status often has its causes in it already. */
function withCauses({ message, details }: ArcError): string {
  const causes = (details?.causes ?? []).filter((cause) => !message.includes(cause.message));
  const lines = causes.map(
    ({ field, message: text }) => `  ${field === undefined ? '' : `${field}: `}${text}`,
  );
  return printableLines([message, ...lines].join('\n'));
}

function isOfApi({ code }: ArcError): boolean {
  return code !== 'InternalError';
}
