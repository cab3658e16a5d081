import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { type Attachment, bundleOf, bundleType, payloadLayer, payloadOf, signed } from './signing.ts';

/** The inputs of a keyless signature; each can be falsified. */
export interface Made {
  identity?: string;
  issuer?: string;
  /** The time of the log entries, within the certificate's validity. */
  at?: number;
  /** How many milliseconds before the log entry the certificate expires. */
  lateMs?: number;
  usage?: string;
  /** The keys of the log entry and the certificate timestamp, if not those of the trust root. */
  log?: Sigstore;
  recordedBy?: Sigstore;
  isRecorded?: boolean;
  predicateType?: string;
}

const codeSigning = '1.3.6.1.5.5.7.3.3';
const timeStamping = '1.3.6.1.5.5.7.3.8';
const caName = 'arc test authority';

/** A Sigstore for tests: a CA, a certificate transparency log and a transparency log. */
export class Sigstore {
  readonly #authority = pair();
  readonly #certificates = pair();
  readonly #log = pair();
  readonly #clock = pair();
  readonly #root: Buffer;
  readonly #timestamper: Buffer;

  constructor() {
    this.#root = certificate({
      subject: caName,
      key: this.#authority.publicKey,
      by: this.#authority.privateKey,
      from: Date.now() - 1000 * day,
      to: Date.now() + 1000 * day,
      extensions: () => [
        extension('2.5.29.15', der(0x03, Buffer.from([1, 6])), true),
        extension('2.5.29.19', der(0x30, der(0x01, Buffer.from([0xff]))), true),
      ],
    });
    this.#timestamper = certificate({
      subject: 'arc test clock',
      key: this.#clock.publicKey,
      by: this.#authority.privateKey,
      from: Date.now() - 1000 * day,
      to: Date.now() + 1000 * day,
      extensions: () => [extension('2.5.29.37', der(0x30, oid(timeStamping)), true)],
    });
  }

  /** The timestamp authority (RFC 3161), as PEM. */
  timestamper(): { certificate: string; key: string } {
    const key = this.#clock.privateKey.export({ format: 'pem', type: 'pkcs8' });
    return { certificate: pemOf(this.#timestamper), key: String(key) };
  }

  /** The text of trusted_root.json. */
  trustedRoot(): string {
    const validFor = { start: '2020-01-01T00:00:00Z' };
    const log = (baseUrl: string, key: KeyObject) => ({
      baseUrl,
      hashAlgorithm: 'SHA2_256',
      publicKey: { rawBytes: base64(spki(key)), keyDetails: 'PKIX_ECDSA_P256_SHA_256', validFor },
      logId: { keyId: base64(idOf(key)) },
    });
    const authority = (uri: string, ...chain: Buffer[]) => ({
      subject: { organization: 'example.com', commonName: caName },
      uri,
      certChain: { certificates: chain.map((each) => ({ rawBytes: base64(each) })) },
      validFor,
    });
    return JSON.stringify({
      mediaType: 'application/vnd.dev.sigstore.trustedroot+json;version=0.1',
      tlogs: [log('https://log.example.com', this.#log.publicKey)],
      certificateAuthorities: [authority('https://ca.example.com', this.#root)],
      ctlogs: [log('https://ct.example.com', this.#certificates.publicKey)],
      timestampAuthorities: [authority('https://time.example.com', this.#timestamper, this.#root)],
    });
  }

  /** A bundle in the format of cosign 3. */
  bundle(digest: string, made: Made = {}): Buffer {
    const { publicKey, privateKey } = pair();
    const certified = this.certify(publicKey, made);
    const plain = JSON.parse(bundleOf(digest, privateKey, made.predicateType).toString());
    const { payload, signatures } = plain.dsseEnvelope;
    const body = dsseEntry(JSON.stringify(plain.dsseEnvelope), payload, signatures[0].sig, pemOf(certified));
    const entry = (made.log ?? this).record(body, recordedAt(made));
    plain.verificationMaterial = {
      certificate: { rawBytes: base64(certified) },
      tlogEntries: made.isRecorded === false ? [] : [entry],
    };
    return Buffer.from(JSON.stringify(plain));
  }

  /** The manifest layer with that bundle. */
  bundleLayer(digest: string, made: Made = {}): Attachment {
    return { mediaType: bundleType, content: this.bundle(digest, made) };
  }

  /** The layer of cosign 2: the payload, and everything else as annotations. */
  payloadLayer(digest: string, made: Made = {}): Attachment {
    const { publicKey, privateKey } = pair();
    const certified = this.certify(publicKey, made);
    const layer = payloadLayer(payloadOf(digest), signed(payloadOf(digest), privateKey));
    const content = layer.annotations?.['dev.cosignproject.cosign/signature'];
    const body = {
      apiVersion: '0.0.1',
      kind: 'hashedrekord',
      spec: {
        data: { hash: hashOf(layer.content) },
        signature: { content, publicKey: { content: base64(Buffer.from(pemOf(certified))) } },
      },
    };
    const { canonicalizedBody, integratedTime, inclusionPromise, logId } = (made.log ?? this).record(
      body,
      recordedAt(made),
    );
    const entry = {
      SignedEntryTimestamp: inclusionPromise.signedEntryTimestamp,
      Payload: {
        body: canonicalizedBody,
        integratedTime: Number(integratedTime),
        logIndex: 0,
        logID: Buffer.from(logId.keyId, 'base64').toString('hex'),
      },
    };
    return {
      ...layer,
      annotations: {
        ...layer.annotations,
        'dev.sigstore.cosign/certificate': pemOf(certified),
        ...(made.isRecorded !== false && { 'dev.sigstore.cosign/bundle': JSON.stringify(entry) }),
      },
    };
  }

  /** A certificate for a key, as DER. */
  certify(publicKey: KeyObject, made: Made = {}): Buffer {
    const {
      identity = 'https://github.com/acme/app/.github/workflows/release.yml@refs/tags/v1.0',
      issuer = 'https://token.actions.githubusercontent.com',
      lateMs,
      usage = codeSigning,
      recordedBy = this,
    } = made;
    const atMs = recordedAt(made);
    const to = lateMs === undefined ? atMs + 600_000 : atMs - lateMs;
    return certificate({
      subject: '',
      key: publicKey,
      by: this.#authority.privateKey,
      from: to - 1_200_000,
      to,
      extensions: (tbs) => {
        const plain = [
          extension('2.5.29.37', der(0x30, oid(usage))),
          extension('2.5.29.17', der(0x30, der(0x86, Buffer.from(identity))), true),
          // Fulcio writes it twice: some read the first, some the second.
          extension('1.3.6.1.4.1.57264.1.1', Buffer.from(issuer)),
          extension('1.3.6.1.4.1.57264.1.8', der(0x0c, Buffer.from(issuer))),
        ];
        const scts = recordedBy.#sct(tbs(plain), spki(this.#authority.publicKey), to - 1_000_000);
        return [...plain, extension('1.3.6.1.4.1.11129.2.4.2', der(0x04, scts))];
      },
    });
  }

  /** The signed certificate timestamp of a certificate (RFC 6962). */
  #sct(tbs: Buffer, authority: Buffer, atMs: number): Buffer {
    const time = Buffer.alloc(8);
    time.writeBigUInt64BE(BigInt(atMs));
    const head = Buffer.concat([Buffer.from([0, 0]), time, uint(1, 2)]);
    const data = Buffer.concat([head, sha256(authority), uint(tbs.length, 3), tbs, uint(0, 2)]);
    const signature = sign('sha256', data, this.#certificates.privateKey);
    const sct = Buffer.concat([
      ...[Buffer.from([0]), idOf(this.#certificates.publicKey), time, uint(0, 2)],
      ...[Buffer.from([4, 3]), uint(signature.length, 2), signature],
    ]);
    return Buffer.concat([uint(sct.length + 2, 2), uint(sct.length, 2), sct]);
  }

  /** The only entry of a log. */
  record(content: object, atMs: number) {
    const body = Buffer.from(JSON.stringify(content));
    const [id, integratedTime] = [idOf(this.#log.publicKey), atMs / 1000];
    // The fields are in canonical order.
    const promise = { body: base64(body), integratedTime, logID: id.toString('hex'), logIndex: 0 };
    return {
      logIndex: '0',
      logId: { keyId: base64(id) },
      kindVersion: { kind: Reflect.get(content, 'kind'), version: '0.0.1' },
      integratedTime: String(integratedTime),
      inclusionPromise: { signedEntryTimestamp: base64(this.#signed(JSON.stringify(promise))) },
      // The name contains the tree ID.
      inclusionProof: this.#proof(body, 'log.example.com - 1'),
      canonicalizedBody: base64(body),
    };
  }

  /** The response of Rekor v2: without a time and a promise. */
  recordUntimed(content: object) {
    const body = Buffer.from(JSON.stringify(content));
    return {
      logIndex: '0',
      logId: { keyId: base64(idOf(this.#log.publicKey)) },
      kindVersion: { kind: 'hashedrekord', version: '0.0.2' },
      inclusionProof: this.#proof(body, 'log.example.com'),
      canonicalizedBody: base64(body),
    };
  }

  #proof(body: Buffer, origin: string) {
    const rootHash = base64(sha256(Buffer.concat([Buffer.from([0]), body])));
    const note = `${origin}\n1\n${rootHash}\n`;
    const hinted = Buffer.concat([idOf(this.#log.publicKey).subarray(0, 4), this.#signed(note)]);
    const envelope = `${note}\n\u2014 log.example.com ${base64(hinted)}\n`;
    return { logIndex: '0', rootHash, treeSize: '1', hashes: [], checkpoint: { envelope } };
  }

  #signed(text: string): Buffer {
    return sign('sha256', Buffer.from(text), this.#log.privateKey);
  }
}

const day = 24 * 3_600_000;

/** Logs have a resolution of seconds. */
function recordedAt({ at = Date.now() - 30 * day }: Made): number {
  return Math.floor(at / 1000) * 1000;
}

/** The log entry of a bundle with an envelope; the fields are in canonical order. */
export function dsseEntry(envelope: string, payload: string, signature: string, verifier: string): object {
  return {
    apiVersion: '0.0.1',
    kind: 'dsse',
    spec: {
      envelopeHash: hashOf(Buffer.from(envelope)),
      payloadHash: hashOf(Buffer.from(payload, 'base64')),
      signatures: [{ signature, verifier: base64(Buffer.from(verifier)) }],
    },
  };
}

export function pemOf(certificate: Buffer): string {
  const lines = base64(certificate).match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}

function hashOf(bytes: Buffer) {
  return { algorithm: 'sha256', value: sha256(bytes).toString('hex') };
}

function pair() {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' });
}

interface Wanted {
  subject: string;
  key: KeyObject;
  by: KeyObject;
  from: number;
  to: number;
  extensions: (tbs: (extensions: readonly Buffer[]) => Buffer) => readonly Buffer[];
}

/** A certificate issued by the CA (RFC 5280). */
function certificate({ subject, key, by, from, to, extensions }: Wanted): Buffer {
  const algorithm = der(0x30, oid('1.2.840.10045.4.3.2'));
  const serial = der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)]));
  const tbs = (list: readonly Buffer[]): Buffer =>
    der(
      0x30,
      ...[der(0xa0, der(0x02, Buffer.from([2]))), serial, algorithm, nameOf(caName)],
      ...[der(0x30, timeOf(from), timeOf(to)), nameOf(subject), spki(key), der(0xa3, der(0x30, ...list))],
    );
  const all = tbs(extensions(tbs));
  return der(0x30, all, algorithm, der(0x03, Buffer.from([0]), sign('sha256', all, by)));
}

function extension(id: string, value: Buffer, isCritical = false): Buffer {
  const critical = isCritical ? [der(0x01, Buffer.from([0xff]))] : [];
  return der(0x30, oid(id), ...critical, der(0x04, value));
}

function nameOf(name: string): Buffer {
  if (name === '') return der(0x30);
  return der(0x30, der(0x31, der(0x30, oid('2.5.4.3'), der(0x0c, Buffer.from(name)))));
}

/** Two-digit years, as in certificates until 2049. */
function timeOf(ms: number): Buffer {
  const digits = new Date(ms).toISOString().replace(/[-T:]|\.\d+/g, '');
  return der(0x17, Buffer.from(digits.slice(2)));
}

function oid(id: string): Buffer {
  const [first = 0, second = 0, ...others] = id.split('.').map(Number);
  const bytes = others.flatMap((number) => {
    const digits = [number % 128];
    for (let rest = Math.floor(number / 128); rest > 0; rest = Math.floor(rest / 128))
      digits.unshift((rest % 128) + 128);
    return digits;
  });
  return der(0x06, Buffer.from([first * 40 + second, ...bytes]));
}

/** DER: tag, length, content. */
function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const head =
    length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, Math.floor(length / 256), length % 256];
  return Buffer.concat([Buffer.from([tag, ...head]), content]);
}

function uint(value: number, bytes: number): Buffer {
  const buffer = Buffer.alloc(bytes);
  buffer.writeUIntBE(value, 0, bytes);
  return buffer;
}

function spki(key: KeyObject): Buffer {
  return key.export({ type: 'spki', format: 'der' });
}

/** The ID of a log. */
function idOf(key: KeyObject): Buffer {
  return sha256(spki(key));
}

function sha256(bytes: Buffer): Buffer {
  return createHash('sha256').update(bytes).digest();
}

function base64(bytes: Buffer): string {
  return bytes.toString('base64');
}
