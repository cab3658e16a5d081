import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { CloudService } from './cloud.ts';
import { passOn, replayed } from './front.ts';
import { isSignedWith, signerOf } from './sigv4.ts';

export interface AwsOptions {
  region: string;
  /** The only role, which the pod with the token `token()` may assume. */
  role: string;
  token: () => string;
  /** An anonymous registry, at a plain HTTP origin. */
  registry: string;
  /** An anonymous storage, likewise; its bucket `mirror` is served. */
  storage: string;
}

/** AWS services for a role, by host, which follow AWS's published API and check every signature. */
export interface Aws {
  services: Record<string, CloudService>;
  registryHost: string;
  bucketHost: string;
  /** Issued secrets, which must not be printed. */
  secrets: string[];
  /** The next responses of STS instead of keys: status, code and message. */
  refusals: [status: number, code: string, message: string][];
}

const namespace = 'https://sts.amazonaws.com/doc/2011-06-15/';

/** Creates the services; `startCloud` starts them. */
export function awsServices(options: AwsOptions): Aws {
  const { region, role, token, registry, storage } = options;
  const keys = new Map<string, { secret: string; session: string; expires: number }>();
  const passwords = new Map<string, number>();
  const secrets: string[] = [];
  const refusals: Aws['refusals'] = [];
  const secret = (): string => {
    const made = randomUUID();
    secrets.push(made);
    return made;
  };
  const soon = () => Date.now() + 3_600_000;
  const registryHost = `123456789012.dkr.ecr.${region}.amazonaws.com`;
  const bucketHost = `mirror.s3.${region}.amazonaws.com`;

  function sts(_: IncomingMessage, response: ServerResponse, body: Buffer): void {
    const form = Object.fromEntries(new URLSearchParams(body.toString()));
    const fail = (status: number, code: string, message: string) =>
      response
        .writeHead(status, { 'content-type': 'text/xml' })
        .end(
          `<ErrorResponse xmlns="${namespace}"><Error><Type>Sender</Type><Code>${code}</Code><Message>${message}</Message></Error><RequestId>1</RequestId></ErrorResponse>`,
        );
    const refusal = refusals.shift();
    if (refusal !== undefined) return void fail(...refusal);
    if (form.Action !== 'AssumeRoleWithWebIdentity' || form.Version !== '2011-06-15')
      return void fail(400, 'InvalidAction', 'Could not find operation');
    if (form.WebIdentityToken !== token()) return void fail(400, 'InvalidIdentityToken', 'No such token');
    if (form.RoleArn !== role || !/^[\w+=,.@-]{2,64}$/.test(form.RoleSessionName ?? ''))
      return void fail(403, 'AccessDenied', 'Not authorized to perform sts:AssumeRoleWithWebIdentity');
    const id = `ASIA${randomUUID().slice(0, 8)}`;
    const lent = { secret: secret(), session: secret(), expires: soon() };
    keys.set(id, lent);
    response
      .writeHead(200, { 'content-type': 'text/xml' })
      .end(
        `<AssumeRoleWithWebIdentityResponse xmlns="${namespace}"><AssumeRoleWithWebIdentityResult><Credentials><SessionToken>${lent.session}</SessionToken><SecretAccessKey>${lent.secret}</SecretAccessKey><Expiration>${new Date(lent.expires).toISOString()}</Expiration><AccessKeyId>${id}</AccessKeyId></Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`,
      );
  }

  /** The AWS error code of a refused request; undefined if its signature is valid. */
  function fault(service: string, request: IncomingMessage, body: Buffer): string | undefined {
    const { method = '', url: path = '', headers } = request;
    const signer = signerOf(headers);
    const key = signer && keys.get(signer.id);
    if (signer === undefined) return 'AccessDenied';
    if (key === undefined || headers['x-amz-security-token'] !== key.session) return 'InvalidAccessKeyId';
    if (!signer.scope.endsWith(`/${region}/${service}/aws4_request`)) return 'SignatureDoesNotMatch';
    if (!isSignedWith(key.secret, { method, path, headers, body })) return 'SignatureDoesNotMatch';
    return key.expires < Date.now() ? 'ExpiredToken' : undefined;
  }

  function ecr(request: IncomingMessage, response: ServerResponse, body: Buffer): void {
    const code = fault('ecr', request, body);
    const type = { 'content-type': 'application/x-amz-json-1.1' };
    const target = 'AmazonEC2ContainerRegistry_V20150921.GetAuthorizationToken';
    if (code !== undefined || request.headers['x-amz-target'] !== target) {
      response.writeHead(400, type).end(JSON.stringify({ __type: code ?? 'InvalidAction', message: 'no' }));
      return;
    }
    const password = secret();
    const expires = soon();
    passwords.set(`AWS:${password}`, expires);
    const authorizationToken = Buffer.from(`AWS:${password}`).toString('base64');
    secrets.push(authorizationToken);
    const data = { authorizationToken, expiresAt: expires / 1000, proxyEndpoint: `https://${registryHost}` };
    response.writeHead(200, type).end(JSON.stringify({ authorizationData: [data] }));
  }

  function images(request: IncomingMessage, response: ServerResponse, body: Buffer): void {
    const [, sent = ''] = /^Basic (.+)$/.exec(request.headers.authorization ?? '') ?? [];
    const expires = passwords.get(Buffer.from(sent, 'base64').toString()) ?? 0;
    if (expires > Date.now()) {
      passOn(registry, replayed(request, body), response);
      return;
    }
    const realm = `Basic realm="https://${registryHost}/",service="ecr.amazonaws.com"`;
    response
      .writeHead(401, { 'www-authenticate': realm, 'content-type': 'text/plain' })
      .end('Not Authorized');
  }

  function objects(request: IncomingMessage, response: ServerResponse, body: Buffer): void {
    const { method = 'GET', url = '/' } = request;
    const code = fault('s3', request, body);
    if (code === undefined) {
      passOn(storage, replayed(request, body, `/mirror${url}`), response);
      return;
    }
    const text = `<?xml version="1.0"?><Error><Code>${code}</Code><Message>no</Message></Error>`;
    const more = { 'content-type': 'application/xml', 'x-amz-bucket-region': region };
    response.writeHead(403, more).end(method === 'HEAD' ? undefined : text);
  }

  return {
    services: {
      [`sts.${region}.amazonaws.com`]: sts,
      [`api.ecr.${region}.amazonaws.com`]: ecr,
      [registryHost]: images,
      [bucketHost]: objects,
    },
    registryHost,
    bucketHost,
    secrets,
    refusals,
  };
}
