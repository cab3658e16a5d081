import { ArcError } from '#shared/base/errors';
import { type Job, type JobPolicy, parsePolicies } from '#shared/domain';
import { type CopyOptions, TransferError } from '#shared/transfer';

/** Where a policy is configured; `arc-transfer` replaces this text in messages. */
export const policyPlace = 'the parameter "policy" of the artifact\'s type';

type WithPolicy = Pick<Job, 'policy'>;

/** Adds the policies of the job to the options. Throws a config TransferError for an unreadable policy, which must not be skipped. */
export function withPolicy<Options extends CopyOptions>(job: WithPolicy, options: Options): Options {
  const policies = policiesOf(job);
  return policies.length === 0 ? options : { ...options, policy: policies };
}

/** The policies of the job: that of its type, and those enforced for every type. Throws a config TransferError if one is unreadable. */
export function policiesOf({ policy }: WithPolicy): JobPolicy[] {
  if (policy === undefined) return [];
  try {
    return parsePolicies(policy);
  } catch (caught) {
    const { message } = ArcError.from(caught);
    throw new TransferError(
      'config',
      `The policy cannot be read, so nothing is moved: ${message}. Correct ${policyPlace}.`,
    );
  }
}

/** The policies of the job by origin, for its result; empty if they are unreadable. */
export function appliedPolicies(job: Job): { policies?: { from: string; digest: string }[] } {
  try {
    const applied = policiesOf(job).map(({ from, digest }) => ({
      from: from ?? `artifact type "${job.artifact.type}"`,
      digest,
    }));
    return applied.length === 0 ? {} : { policies: applied };
  } catch {
    return {};
  }
}
