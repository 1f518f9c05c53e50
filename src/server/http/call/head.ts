import type { Failure } from '../../../schemas/failures.ts'
import { CONVERSATION_HEADERS } from '../../../schemas/inference/conversation.ts'
import { missingKeyHint, unknownKeyHint } from '../../../schemas/keys/credential-hints.ts'
import { HEADERS_BYTES_MAX, REQUEST_ID_CHARS_MAX } from '../../../schemas/limits/limits.ts'
import type { AnyOperation, HeaderName } from '../../operations/define.ts'
import type { WireRequest, WireResponse } from '../reply/wire.ts'
import type { ProxyList } from '../../../schemas/values/proxies.ts'

/** The fault of a request that breaks HTTP's framing; its connection is cut. */
export type HeadFault =
  | 'headers_too_large'
  | 'header_repeated'
  | 'length_invalid'
  | 'encoding_unknown'
  | 'length_and_encoding'
  | 'body_not_expected'
  | 'trailer_announced'

/**
 * The request line and the headers as plain values: the library's request object is invalid after the handler
 * returns. Framing is checked here because the library obeys the first of two framing headers, and would
 * process the bytes after the body as a second request.
 */
export class RequestHead {
  readonly method: string
  /** Not decoded. */
  readonly path: string
  /** The query as sent, not decoded, without the question mark. */
  readonly query: string
  /** Set when the connection must be cut before any other step. */
  fault: HeadFault | null = null
  /** The `Host` header as sent, with its port. */
  host = ''
  authorization = ''
  anthropicKey = ''
  /** A key from a separate header, used when `authorization` holds the credential for another server. */
  sluiceKey = ''
  contentType = ''
  contentEncoding = ''
  origin = ''
  /** The client's own request id if it is valid, else empty. */
  requestId = ''
  /** Bytes of the body; null when the body comes in chunks. */
  declared: number | null = 0
  /** True when the client asked to close the connection after the reply. */
  isLast = false
  /** True when the client waits for `100 Continue` before it sends its body. */
  isExpecting = false
  /** Flat list of names and values of all headers, for relayed requests; null for others. */
  readonly all: string[] | null
  #hasTrailer = false
  #origin: OriginOptions | null = null
  #proxied: Scheme | null = null
  readonly #inputs: { [name in KeptName]?: string } = {}
  #bytes = 0
  #hasLength = false
  #hasHost = false

  /** @param isPassedOn decides by the path whether all headers are needed */
  constructor(request: WireRequest, isPassedOn: (path: string) => boolean = () => false) {
    this.method = request.getMethod()
    this.path = request.getUrl()
    this.query = request.getQuery() ?? ''
    this.all = isPassedOn(this.path) ? [] : null
    this.#bytes = this.path.length + this.query.length
    request.forEach((name, value) => this.#take(name, value))
    if (this.declared === null) {
      if (this.#hasLength) this.fault ??= 'length_and_encoding'
      // The library processes the bytes after the last chunk as another request.
      if (this.#hasTrailer) this.fault ??= 'trailer_announced'
      if (BODILESS.has(this.method)) this.fault ??= 'body_not_expected'
    }
    // The library stops reading headers at one without a name, and takes the body announced by an unseen
    // `content-length` for a second request: so no request may follow if a body may exist.
    else if (this.declared === 0 && this.#mayHaveBody()) this.isLast = true
    if (this.#bytes > HEADERS_BYTES_MAX) this.fault ??= 'headers_too_large'
  }

  /** Stores how the request arrived: the library forgets the peer when the answer has ended. */
  arrived(res: Pick<WireResponse, 'getRemoteAddress'>, origin: OriginOptions): void {
    this.#origin = origin
    this.#proxied = proxiedScheme(this.kept('x-forwarded-proto'), res, origin)
  }

  /** Scheme and host of links to this node; empty: a link is a path. */
  get ownOrigin(): string {
    return this.#origin === null ? '' : originOf(this.host, this.#origin, this.#proxied)
  }

  /** Returns a header that only few requests need. */
  kept(name: KeptName): string | undefined {
    return this.#inputs[name]
  }

  /**
   * Whether clients send bodies with requests of this kind. Decision: a `GET` keeps its connection on
   * `/egress` too, since most of the traffic there is `GET`; a `DELETE` does not, since the APIs of other
   * programs accept bodies with it.
   */
  #mayHaveBody(): boolean {
    return !BODILESS.has(this.method) && !(this.method === 'delete' && this.all === null)
  }

  #take(name: string, value: string): void {
    this.#bytes += name.length + value.length
    this.all?.push(name, value)
    switch (name) {
      case 'host':
        if (this.#hasHost) this.fault ??= 'header_repeated'
        this.#hasHost = true
        this.host = value
        return
      case 'authorization':
        this.authorization = this.#once(this.authorization, value)
        return
      case 'x-api-key':
        this.anthropicKey = value
        return
      case 'x-sluice-key':
        this.sluiceKey = this.#once(this.sluiceKey, value)
        return
      case 'content-type':
        this.contentType = this.#once(this.contentType, value)
        return
      case 'content-encoding':
        this.contentEncoding = this.#once(this.contentEncoding, value)
        return
      case 'content-length':
        return this.#takeLength(value)
      case 'transfer-encoding':
        // The library treats any value as chunked: only `chunked` is accepted, and only once.
        if (this.declared === null) this.fault ??= 'header_repeated'
        if (value.toLowerCase() !== 'chunked') this.fault ??= 'encoding_unknown'
        this.declared = null
        return
      case 'connection':
        if (/(?:^|,)\s*close\s*(?:,|$)/i.test(value)) this.isLast = true
        return
      case 'expect':
        this.isExpecting = true
        return
      case 'trailer':
        this.#hasTrailer = true
        return
      case 'origin':
        this.origin = value
        return
      case 'x-request-id':
        if (value.length <= REQUEST_ID_CHARS_MAX && /^[\w.-]+$/.test(value)) this.requestId = value
        return
      default:
        if (KEPT.has(name)) this.#inputs[name as KeptName] = value
        else if (name.startsWith('x-stainless-')) this.#inputs['x-stainless-lang'] = value
    }
  }

  #takeLength(value: string): void {
    if (this.#hasLength) this.fault ??= 'header_repeated'
    this.#hasLength = true
    if (!/^\d{1,15}$/.test(value)) this.fault ??= 'length_invalid'
    if (this.declared !== null) this.declared = Number(value)
  }

  /** An empty value counts as absent: an empty second header changes nothing. */
  #once(before: string, value: string): string {
    if (before !== '') this.fault ??= 'header_repeated'
    return value
  }
}

/** Methods for which chunked bodies are refused: their replies may have no body, and the connection stays open after such a reply. */
const BODILESS: ReadonlySet<string> = new Set(['get', 'head', 'options'])

type KeptName =
  | HeaderName
  | 'idempotency-key'
  | 'traceparent'
  | 'accept-encoding'
  | 'content-range'
  | 'if-unmodified-since'
  | 'access-control-request-method'
  | 'access-control-request-headers'
  | 'api-key'
  | 'x-forwarded-proto'
const KEPT: ReadonlySet<string> = new Set<KeptName>([
  ...CONVERSATION_HEADERS,
  'x-session-id',
  'x-sluice-hops',
  'idempotency-key',
  'range',
  'if-range',
  'if-none-match',
  'anthropic-version',
  'anthropic-beta',
  'user-agent',
  'traceparent',
  'accept-encoding',
  'content-range',
  'if-match',
  'if-unmodified-since',
  'access-control-request-method',
  'access-control-request-headers',
  'x-sluice-substitute',
  'api-key',
  'x-forwarded-proto',
])

/** The credential for `authenticate`. A key in a separate header may lack the scheme. */
export function credentialOf({ access }: Pick<AnyOperation, 'access'>, head: RequestHead): string {
  const { authorization, sluiceKey } = head
  if (access.header === undefined)
    return authorization === '' ? anthropicCredential(access, head) : authorization
  return sluiceKey === '' || /^bearer /i.test(sluiceKey) ? sluiceKey : `Bearer ${sluiceKey}`
}

/**
 * The credential in Anthropic's header. It is used for operations in Anthropic's format, and for other
 * operations only if the request has Anthropic's other headers; otherwise the header is ignored.
 */
function anthropicCredential(
  { takesAnthropicKey }: Pick<AnyOperation['access'], 'takesAnthropicKey'>,
  head: Pick<RequestHead, 'anthropicKey' | 'kept'>,
): string {
  if (head.anthropicKey === '') return ''
  const isAnthropic =
    takesAnthropicKey === true ||
    head.kept('anthropic-version') !== undefined ||
    head.kept('anthropic-beta') !== undefined
  return isAnthropic ? `Bearer ${head.anthropicKey}` : ''
}

/**
 * A refusal of the credential, with the header in which this operation expects its key, and with the fault in
 * the format of the credential that was sent.
 */
export function refusedCredential(
  { access }: Pick<AnyOperation, 'access'>,
  failure: Failure,
  head: RequestHead,
): Failure {
  const { authorization, anthropicKey, sluiceKey } = head
  if (failure.name === 'key_unknown')
    return withDetail(failure, unknownKeyHint(credentialOf({ access }, head)))
  if (failure.name !== 'credentials_missing') return failure
  const sent = { authorization, anthropicKey, sluiceKey, azureKey: head.kept('api-key') ?? '' }
  const hint = missingKeyHint(sent, access.header ?? 'authorization')
  return withDetail(
    access.header === undefined ? failure : { ...failure, fields: { header: `${access.header}: <key>` } },
    hint,
  )
}

function withDetail(failure: Failure, detail: string | null): Failure {
  return detail === null ? failure : { ...failure, detail }
}

export type DeclaredHeaders = Readonly<Partial<Record<HeaderName, string>>>

export const NO_HEADERS: DeclaredHeaders = Object.freeze({})

/** The headers that an operation declared as inputs: it does not get any others. */
export function declaredHeaders(wanted: readonly HeaderName[], head: RequestHead): DeclaredHeaders {
  const headers: Partial<Record<HeaderName, string>> = {}
  for (const name of wanted) {
    const value = head.kept(name)
    if (value !== undefined) headers[name] = value
  }
  return headers
}

/**
 * Refuses a body whose type is not JSON (`content_type_unsupported`), and a compressed body
 * (`header_invalid`). A missing type counts as JSON.
 */
export function contentRefusal({
  contentType,
  contentEncoding,
}: Pick<RequestHead, 'contentType' | 'contentEncoding'>): Failure | null {
  if (contentType !== '' && !JSON_TYPES.test(contentType)) {
    const issues = [
      {
        path: '/content-type',
        message: 'is not a JSON content type',
        expected: 'application/json, or a type that ends in +json',
      },
    ]
    return { name: 'content_type_unsupported', metadata: { issues } }
  }
  return encodingRefusal({ contentEncoding })
}

const JSON_TYPES = /^application\/(?:[\w.!#$&^-]+\+)?json(?:\s*;|$)/i

export function encodingRefusal({ contentEncoding }: Pick<RequestHead, 'contentEncoding'>): Failure | null {
  // A few bytes of a compressed body could decode to many.
  if (contentEncoding !== '' && contentEncoding.toLowerCase() !== 'identity') {
    return refusal('content-encoding', 'is not supported', 'identity')
  }
  return null
}

/** `header_invalid` for a partial write (RFC 9110 §14.5) and for a conditional write: ignoring the header would lose content. */
export function partialRefusal(head: Pick<RequestHead, 'kept'>): Failure | null {
  const found = WHOLE_ONLY.find((name) => head.kept(name) !== undefined)
  if (found === undefined) return null
  return refusal(
    found,
    'is not supported by write operations',
    'a whole file, without `Content-Range` and conditional headers',
  )
}

const WHOLE_ONLY = ['content-range', 'if-match', 'if-none-match', 'if-unmodified-since'] as const

function refusal(name: string, message: string, expected: string): Failure {
  return { name: 'header_invalid', metadata: { issues: [{ path: `/${name}`, message, expected }] } }
}

export type Scheme = 'http' | 'https'

/** The settings that decide how URLs of this node begin in its answers. */
export interface OriginOptions {
  /** SLUICE_PUBLIC_URL; null: the host of the request is used. */
  readonly publicUrl: string | null
  readonly isTls: boolean
  readonly proxies: ProxyList
}

/** Characters of a `Host` header that an answer may repeat: a name of 253 characters, a colon and a port. */
const HOST_CHARS_MAX = 260

const PORT_MAX = 65_535

/** A host name of labels without other characters, or an address in brackets, and a port. */
const HOST =
  /^(?:[a-z0-9_][a-z0-9_-]{0,62}(?:\.[a-z0-9_][a-z0-9_-]{0,62})*\.?|\[[0-9a-f:.]{2,45}\])(?::(\d{1,5}))?$/i

/**
 * Scheme and host of a request, for links in its answer: those of SLUICE_PUBLIC_URL if it is set. Empty for a
 * malformed `Host` header, so that no answer repeats it.
 */
export function originOf(host: string, { publicUrl, isTls }: OriginOptions, proxied: Scheme | null): string {
  if (publicUrl !== null) return publicUrl
  const port = host.length > HOST_CHARS_MAX ? null : HOST.exec(host)
  if (port === null || Number(port[1] ?? 1) > PORT_MAX || Number(port[1] ?? 1) < 1) return ''
  return `${proxied ?? (isTls ? 'https' : 'http')}://${host.toLowerCase()}`
}

/**
 * The scheme of the request to a listed proxy; null when the proxy does not report it, and for all other
 * peers.
 * @param scheme value of `X-Forwarded-Proto`
 */
export function proxiedScheme(
  scheme: string | undefined,
  res: Pick<WireResponse, 'getRemoteAddress'>,
  { proxies }: OriginOptions,
): Scheme | null {
  if (scheme === undefined || proxies.isEmpty) return null
  if (scheme !== 'http' && scheme !== 'https') return null
  return proxies.has(res.getRemoteAddress()) ? scheme : null
}
