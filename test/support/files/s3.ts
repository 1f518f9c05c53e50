/**
 * A small S3 server for tests: path style, SigV4 checked, conditional writes, ranges, list pages, faults on
 * demand.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pause } from '../wait.ts'

/**
 * `error`: 500. `slow`: no answer ever. `reset`: cut before anything is done. `lost`: done, then cut before
 * the answer. `half`: the answer breaks off in mid-body. `stall`: it stops there instead. `hold`: done, and
 * answered after `release`.
 */
export type S3Fault = 'error' | 'slow' | 'reset' | 'lost' | 'half' | 'stall' | 'hold'
export type S3Call = 'put' | 'get' | 'head' | 'delete' | 'list'

interface Stored {
  /** Empty where bodies are not kept. */
  readonly body: Buffer
  readonly sizeBytes: number
  readonly etag: string
  readonly changedAt: Date
  readonly metadata: Readonly<Record<string, string>>
}

export class FakeS3 {
  readonly bucket = 'test-bucket'
  readonly region = 'test-region-1'
  readonly accessKeyId = 'TESTACCESSKEY'
  readonly secretAccessKey = 'test-secret-access-key'
  readonly objects = new Map<string, Stored>()
  /** Calls served so far, faults included: `put objects/a`. */
  readonly calls: string[] = []
  /** Bytes of bodies written to sockets so far: what back-pressure holds back is not in it. */
  sentBytes = 0
  /** Connections that were ever made. */
  connections = 0
  /** Called before a call is served. */
  beforeCall: (call: S3Call, key: string) => void = () => undefined
  /** Keys at most in one page of a listing. */
  pageMax = 1_000
  ignoresRanges = false
  /** False: `if-match` of a put is passed over, as by servers that do not know it. */
  knowsIfMatch = true
  /** True: the access key may neither put nor delete. */
  isReadOnly = false
  /** False: of what is put only the size is known, so that gigabytes can be. */
  keepsBodies = true
  /** Bytes of bodies that it reads a second, over all connections. */
  readBytesPerS = Infinity
  #readFreeAt = 0
  readonly #held: (() => void)[] = []
  readonly #faults: { readonly call: S3Call; readonly fault: S3Fault }[] = []
  readonly #server: Server

  constructor() {
    this.#server = createServer((req, res) => void this.#serve(req, res).catch(() => res.destroy()))
    this.#server.on('connection', () => this.connections++)
    // A connection that closes just as it is used again would be a fault that no test asked for.
    this.#server.keepAliveTimeout = 60_000
  }

  static async start(t: { teardown(done: () => unknown): unknown }): Promise<FakeS3> {
    const fake = new FakeS3()
    await new Promise<void>((resolve) => fake.#server.listen(0, '127.0.0.1', resolve))
    t.teardown(() => {
      fake.#server.closeAllConnections()
      return new Promise((resolve) => fake.#server.close(resolve))
    })
    return fake
  }

  get endpoint(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** The next calls of a kind fail, one for each. */
  failNext(call: S3Call, ...faults: readonly S3Fault[]): void {
    this.#faults.push(...faults.map((fault) => ({ call, fault })))
  }

  /** Forgets the faults of a kind that nothing met. */
  clear(call: S3Call): void {
    for (let at = this.#faults.length - 1; at >= 0; at--)
      if (this.#faults[at]?.call === call) this.#faults.splice(at, 1)
  }

  /** Answers what `hold` held back. */
  release(): void {
    for (const answer of this.#held.splice(0)) answer()
  }

  /** Faults that no call has met yet are forgotten. */
  heal(): void {
    this.#faults.length = 0
  }

  put(
    key: string,
    body: Buffer,
    metadata: Readonly<Record<string, string>> = {},
    sizeBytes = body.length,
  ): Stored {
    const etag = `"${createHash('md5').update(body).digest('hex')}"`
    const stored = { body, sizeBytes, etag, changedAt: new Date(), metadata }
    this.objects.set(key, stored)
    return stored
  }

  async #serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const url = new URL(req.url ?? '/', 'http://host')
    const [, bucket = '', ...rest] = url.pathname.split('/').map(decodeURIComponent)
    const key = rest.join('/')
    const call: S3Call =
      req.method === 'GET' && key === '' ? 'list' : ((req.method ?? '').toLowerCase() as S3Call)
    this.calls.push(`${call} ${key}`)
    this.beforeCall(call, key)
    const fault = this.#takeFault(call)
    if (fault === 'reset') return void req.socket.resetAndDestroy()
    if (fault === 'slow') return void req.resume()
    const { body, sizeBytes } = await this.#read(req)
    if (fault === 'error') return void refuse(res, 500, 'InternalError')
    const refusal = this.#checkSignature(req, body)
    if (refusal !== null) return void refuse(res, 403, refusal)
    if (bucket !== this.bucket) return void refuse(res, 404, 'NoSuchBucket')
    if (fault === 'lost') {
      this.#answer({ call, key, url, req, body, sizeBytes, res: null, fault: null })
      return void req.socket.resetAndDestroy()
    }
    const isHeld = fault === 'hold'
    this.#answer({
      call,
      key,
      url,
      req,
      body,
      sizeBytes,
      res: isHeld ? null : res,
      fault: isHeld ? null : fault,
    })
    if (isHeld) this.#held.push(() => void res.writeHead(200).end())
  }

  async #read(req: IncomingMessage): Promise<{ readonly body: Buffer; readonly sizeBytes: number }> {
    const chunks: Buffer[] = []
    let sizeBytes = 0
    for await (const chunk of req as AsyncIterable<Buffer>) {
      if (this.keepsBodies) chunks.push(chunk)
      sizeBytes += chunk.length
      if (this.readBytesPerS === Infinity) continue
      this.#readFreeAt =
        Math.max(this.#readFreeAt, performance.now()) + (chunk.length / this.readBytesPerS) * 1_000
      await pause(this.#readFreeAt - performance.now())
    }
    return { body: Buffer.concat(chunks), sizeBytes }
  }

  #takeFault(call: S3Call): S3Fault | null {
    const at = this.#faults.findIndex((fault) => fault.call === call)
    return at < 0 ? null : (this.#faults.splice(at, 1)[0]?.fault ?? null)
  }

  #answer(asked: Asked): void {
    const { call, key, url, req, res } = asked
    if (call === 'list') return this.#list(url.searchParams, res)
    const there = this.objects.get(key)
    if (this.isReadOnly && (call === 'put' || call === 'delete')) return refuse(res, 403, 'AccessDenied')
    if (call === 'put') {
      const version = this.knowsIfMatch ? req.headers['if-match'] : undefined
      if (version !== undefined && there === undefined) return refuse(res, 404, 'NoSuchKey')
      if (version !== undefined && version !== there?.etag) return refuse(res, 412, 'PreconditionFailed')
      if (req.headers['if-none-match'] === '*' && there !== undefined)
        return refuse(res, 412, 'PreconditionFailed')
      const marks = Object.entries(req.headers).filter(([name]) => name.startsWith('x-amz-meta-'))
      const metadata = Object.fromEntries(marks.map(([name, value]) => [name, String(value)]))
      const stored = this.put(key, asked.body, metadata, asked.sizeBytes)
      return void res?.writeHead(200, { etag: stored.etag }).end()
    }
    if (call === 'delete') {
      const wanted = req.headers['if-match']
      if (wanted !== undefined && there === undefined) return refuse(res, 404, 'NoSuchKey')
      if (wanted !== undefined && wanted !== there?.etag) return refuse(res, 412, 'PreconditionFailed')
      this.objects.delete(key)
      return void res?.writeHead(204).end()
    }
    if (there === undefined) return refuse(res, 404, 'NoSuchKey', call === 'head')
    if (req.headers['if-match'] !== undefined && req.headers['if-match'] !== there.etag)
      return refuse(res, 412, 'PreconditionFailed')
    if (res !== null) this.#send(there, asked, res)
  }

  #send(stored: Stored, { call, req, fault }: Asked, res: ServerResponse): void {
    const isBare = call === 'head' && stored.body.length !== stored.sizeBytes
    if (isBare)
      return void res
        .writeHead(200, { ...stored.metadata, etag: stored.etag, 'content-length': stored.sizeBytes })
        .end()
    const range = this.ignoresRanges ? null : /^bytes=(\d+)-(\d+)$/.exec(req.headers.range ?? '')
    const [from, to] =
      range === null
        ? [0, stored.body.length]
        : [Number(range[1]), Math.min(Number(range[2]) + 1, stored.body.length)]
    if (range !== null && from >= stored.body.length) return refuse(res, 416, 'InvalidRange')
    res.writeHead(range === null ? 200 : 206, {
      ...stored.metadata,
      etag: stored.etag,
      'last-modified': stored.changedAt.toUTCString(),
      'content-length': to - from,
      ...(range === null ? {} : { 'content-range': `bytes ${from}-${to - 1}/${stored.body.length}` }),
    })
    if (call === 'head') return void res.end()
    const sent = fault === null ? to : from + Math.floor((to - from) / 2)
    const write = (at: number): void => {
      if (res.destroyed) return
      if (at >= sent)
        return fault === null ? void res.end() : fault === 'half' ? void res.destroy() : undefined
      const piece = stored.body.subarray(at, Math.min(at + 65_536, sent))
      this.sentBytes += piece.length
      if (res.write(piece)) setImmediate(write, at + piece.length)
      else res.once('drain', () => write(at + piece.length))
    }
    write(from)
  }

  #list(query: URLSearchParams, res: ServerResponse | null): void {
    const prefix = query.get('prefix') ?? ''
    const after = query.get('start-after') ?? ''
    const countMax = Math.min(Number(query.get('max-keys') ?? 1_000), this.pageMax)
    const bytes = (text: string): Buffer => Buffer.from(text)
    const keys = [...this.objects.keys()]
      .filter((key) => key.startsWith(prefix) && bytes(key).compare(bytes(after)) > 0)
      .sort((a, b) => bytes(a).compare(bytes(b)))
    const contents = keys.slice(0, countMax).map((key) => {
      const { sizeBytes, etag, changedAt } = this.objects.get(key) ?? {
        sizeBytes: 0,
        etag: '',
        changedAt: new Date(),
      }
      return (
        `<Contents><Key>${encodeURIComponent(key).replaceAll('%2F', '/').replaceAll('%20', '+')}</Key><Size>${sizeBytes}</Size>` +
        `<ETag>${etag.replaceAll('"', '&quot;')}</ETag><LastModified>${changedAt.toISOString()}</LastModified></Contents>`
      )
    })
    res
      ?.writeHead(200, { 'content-type': 'application/xml' })
      .end(
        `<?xml version="1.0"?><ListBucketResult><EncodingType>url</EncodingType><IsTruncated>${keys.length > countMax}</IsTruncated>` +
          `<KeyCount>${contents.length}</KeyCount>${contents.join('')}</ListBucketResult>`,
      )
  }

  /** @returns the error's name, or null when the request is signed with our secret */
  #checkSignature(req: IncomingMessage, body: Buffer): string | null {
    const header =
      /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/
    const [, accessKeyId, day = '', region = '', signed = '', signature = ''] =
      header.exec(req.headers.authorization ?? '') ?? []
    if (accessKeyId !== this.accessKeyId || region !== this.region) return 'InvalidAccessKeyId'
    const payload = String(req.headers['x-amz-content-sha256'])
    if (/^[0-9a-f]{64}$/.test(payload) && payload !== sha256(body)) return 'XAmzContentSHA256Mismatch'
    const [path = '', query = ''] = (req.url ?? '').split('?')
    const names = signed.split(';')
    if (!names.includes('host') || !names.includes('x-amz-date')) return 'AccessDenied'
    const canonical = [
      req.method,
      path,
      query
        .split('&')
        .filter((part) => part !== '')
        .map((part) => (part.includes('=') ? part : `${part}=`))
        .sort()
        .join('&'),
      ...names.map((name) => `${name}:${String(req.headers[name]).trim().replace(/ +/g, ' ')}`),
      '',
      signed,
      payload,
    ].join('\n')
    const scope = `${day}/${region}/s3/aws4_request`
    const text = [
      'AWS4-HMAC-SHA256',
      String(req.headers['x-amz-date']),
      scope,
      sha256(Buffer.from(canonical)),
    ].join('\n')
    const key = [day, region, 's3', 'aws4_request'].reduce<Buffer>(
      (from, part) => hmac(from, part),
      Buffer.from(`AWS4${this.secretAccessKey}`),
    )
    return timingSafeEqual(Buffer.from(signature, 'hex'), hmac(key, text)) ? null : 'SignatureDoesNotMatch'
  }
}

interface Asked {
  readonly call: S3Call
  readonly key: string
  readonly url: URL
  readonly req: IncomingMessage
  readonly body: Buffer
  readonly sizeBytes: number
  /** Null: the answer is lost. */
  readonly res: ServerResponse | null
  readonly fault: S3Fault | null
}

function refuse(res: ServerResponse | null, status: number, code: string, isHead = false): void {
  const body = isHead
    ? ''
    : `<?xml version="1.0"?><Error><Code>${code}</Code><Message>${code}</Message></Error>`
  res?.writeHead(status, { 'content-type': 'application/xml' }).end(body)
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}

function hmac(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}

/** Settings of a node that stores in it. */
export function s3Settings(s3: FakeS3): Readonly<Record<string, string>> {
  return {
    SLUICE_OBJECTS: `s3://${s3.bucket}/node`,
    SLUICE_S3_ENDPOINT: s3.endpoint,
    SLUICE_S3_CHECKSUMS: 'required',
    AWS_REGION: s3.region,
    AWS_ACCESS_KEY_ID: s3.accessKeyId,
    AWS_SECRET_ACCESS_KEY: s3.secretAccessKey,
  }
}
