import { ArcError, printableLines } from '#shared/base/errors';

/** Exit codes; docs/arcctl.md has the table. */
export const exitCodes = {
  ok: 0,
  /** Negative result: not found, failed, differences or findings. */
  no: 1,
  usage: 2,
  /** Cluster not reachable: no kubeconfig, no connection, or rejected credentials. */
  unreachable: 3,
  /** `--timeout` or `--request-timeout` exceeded. */
  timeout: 4,
  /** The API rejected the request: missing permission, invalid object, conflict. */
  refused: 5,
  interrupted: 130,
  /** The output was closed, as by `| head`; the exit code of SIGPIPE. */
  pipe: 141,
} as const;

/** Ends a command with an exit code and, unless the output is sufficient, a message that names the next step. */
export class Failure extends Error {
  readonly exitCode: number;

  constructor(exitCode: number, message = '') {
    super(message);
    this.exitCode = exitCode;
  }
}

/** Returns the failure for an invalid command line. */
export function usage(message: string): Failure {
  return new Failure(exitCodes.usage, message);
}

/** Returns the message and the exit code of a caught failure. */
export function describeFailure(caught: unknown): { exitCode: number; message: string } {
  if (caught instanceof Failure) return { exitCode: caught.exitCode, message: caught.message };
  const error = ArcError.from(caught);
  const { message } = error;
  switch (error.code) {
    case 'ServiceUnavailable':
      return {
        exitCode: exitCodes.unreachable,
        message: `${message}\nCheck the cluster with "arcctl doctor", or choose another context with --context.`,
      };
    case 'Unauthorized':
      return {
        exitCode: exitCodes.unreachable,
        message: `${message}: the cluster rejected the credentials of this context. Log in again, or choose another context with --context.`,
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
  return `${message}\nARC may not be installed: check with "arcctl doctor".`;
}

/** Appends causes, unless the message of the Status already contains them. */
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
