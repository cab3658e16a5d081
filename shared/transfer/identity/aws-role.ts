/** An AWS role that a pod may assume. */
export interface AwsRole {
  arn: string;
  account: string;
  tokenFile: string;
  /** The region of the pod. */
  region: string | undefined;
  /** The domain of AWS services in the role's partition: China has a separate one, with separate accounts. */
  domain: string;
}

const roleArn = /^arn:(aws|aws-cn|aws-us-gov):iam::(\d{12}):role\/[\w+=,.@/-]{1,512}$/;
const regionName = /^[a-z]{2}(?:-[a-z]+)+-\d+$/;
const usualRegion: Readonly<Record<string, string>> = {
  'aws-cn': 'cn-north-1',
  'aws-us-gov': 'us-gov-west-1',
};

/**
 * The role that the EKS pod identity webhook, or an equivalent, has injected into a pod: AWS_ROLE_ARN, AWS_WEB_IDENTITY_TOKEN_FILE and
 * AWS_REGION. Undefined without a valid role.
 */
export function awsRole(env: Readonly<Record<string, string | undefined>>): AwsRole | undefined {
  const { AWS_ROLE_ARN: arn = '', AWS_WEB_IDENTITY_TOKEN_FILE: tokenFile = '' } = env;
  const [, partition, account] = roleArn.exec(arn) ?? [];
  if (partition === undefined || account === undefined || tokenFile === '') return undefined;
  const region = [env.AWS_REGION, env.AWS_DEFAULT_REGION].find((name) => regionName.test(name ?? ''));
  const domain = partition === 'aws-cn' ? 'amazonaws.com.cn' : 'amazonaws.com';
  return { arn, account, tokenFile, region: region ?? usualRegion[partition], domain };
}

/** The region whose STS endpoint is used. */
export function regionOf({ region = 'us-east-1' }: AwsRole): string {
  return region;
}
