import { type Job, parsePolicy } from '#shared/domain';
import { ArcError } from '#shared/errors';
import { type CopyOptions, TransferError } from '#shared/transfer';

/** Where a policy stands. `arc-transfer` says another place instead. */
export const policyPlace = 'the parameter "policy" of the artifact\'s type';

/** The options with the policy of the job, if it has one. Throws a config TransferError for one that cannot be read: it would be passed over. */
export function withPolicy<Options extends CopyOptions>(
  { policy }: Pick<Job, 'policy'>,
  options: Options,
): Options {
  if (policy === undefined) return options;
  try {
    return { ...options, policy: parsePolicy(policy) };
  } catch (caught) {
    const { message } = ArcError.from(caught);
    throw new TransferError(
      'config',
      `The policy cannot be read, so nothing is moved: ${message}. Correct ${policyPlace}.`,
    );
  }
}
