import Type from 'typebox'
import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import { EGRESS_DEADLINE_MS } from '../../../schemas/egress/egress-limits.ts'
import { isOfConnection, namedByConnection } from '../../../schemas/values/hop-by-hop.ts'
import type {
  Destination,
  EgressExchange,
  VettedOrigin,
  RelayedAnswer,
  RelayedRequest,
} from '../../ports/egress/egress.ts'
import type { BundleRequest, SecretBundles } from '../../ports/vault/vault.ts'
import { type Call, defineOperation, ownWorkspaceOf, type Success } from '../define.ts'
import { filledHead, headFits, malformed, outgoingHead, BodyFlow, wholeBody } from './outgoing.ts'
import { holdsKey } from './own-keys.ts'
import { filled, leastBytes, templateOf, type Place, type Template } from './placeholders.ts'
import { KIB, MIB } from '../../../schemas/limits/limits.ts'

/** Milliseconds that a destination may pause while it sends its answer. Decision. */
export const EGRESS_ANSWER_STALL_MS = 300_000
/** Milliseconds that a destination may go without accepting a byte of the request's body. Decision. */
export const EGRESS_BODY_STALL_MS = 60_000
/** Bytes of a body in which placeholders are replaced, before the replacement. Decision. */
export const EGRESS_SUBSTITUTED_BODY_BYTES_MAX = 64 * KIB
/** Bytes of a body in which placeholders are replaced, after the replacement. Decision. */
export const EGRESS_FILLED_BODY_BYTES_MAX = MIB
/** Secrets that one request may name. Decision. */
export const EGRESS_SECRETS_MAX = 32

const Target = Type.Object({
  host: Type.String({ description: 'Host of the destination, with `:port` unless the port is 443.' }),
  path: Type.String({
    description: 'Path at the destination, sent unchanged.',
  }),
})

/** Passes a request on to a host of the caller's choice, with secrets that the caller does not know. C29. */
export const forwardRequest = defineOperation({
  id: 'egress.forward',
  method: 'any',
  path: '/egress/{host}/{path}',
  isAtRoot: true,
  tag: 'egress',
  summary: 'Forward a request with secrets inserted',
  description:
    'A Sluice extension. Sends the request to `https://{host}/{path}` with its method, query, headers and body, and ' +
    'returns the answer unchanged. `{{secret:name}}` in a header or query parameter is replaced with the secret of ' +
    'that name if the secret is bound to exactly that host; `x-sluice-substitute: body` does so in a body of up to 64 KiB too. ' +
    'Redirects are returned, not followed.',
  access: { keys: ['inference', 'intern'], keyScopes: ['vault:use'], header: 'x-sluice-key' },
  deadlineMs: EGRESS_DEADLINE_MS,
  input: { params: Target, headers: ['x-sluice-substitute'], upload: 'whole', hasRest: true },
  success: { status: 200, body: Type.Unknown(), isRelayed: true },
  statuses: [400, 403, 408, 413, 429, 500, 502, 503, 504],
  failures: [
    'destination_refused',
    'query_invalid',
    'header_invalid',
    'body_too_large',
    'secret_not_released',
    'upstream_failed',
    'upstream_slow',
    'deadline_exceeded',
    'busy',
    'store_unavailable',
    'draining',
  ],
  example: { params: { host: 'api.openai.com', path: 'v1/models' } },
  async run(call, ports) {
    const { relayed, params } = call
    if (relayed === null) throw new Error('this operation needs a relayed request, but the call has none')
    const destination = destinationOf(params.host)
    if (!destination.ok) return destination
    const { host } = destination.value
    const origin = ports.egress.vetted({ ...destination.value, workspaceId: ownWorkspaceOf(call.key) })
    if (!origin.ok) return origin
    call.notes.host = host
    const head = outgoingHead(params.path, relayed)
    if (!head.ok) return head
    const body = head.value.isBodyFilled && relayed.bodyBytes !== 0 ? await bodyTemplate(relayed) : ok(null)
    if (!body.ok) return body
    const templates = [
      head.value.query,
      ...head.value.headers.map(({ value }) => value),
      body.value?.template,
    ]
    const names = templates.flatMap((template) => template?.names ?? [])
    const fits = (bytes: ReadonlyMap<string, number>): Outcome<null> => {
      const headFit = headFits(head.value, bytes)
      return headFit.ok ? bodyFits(body.value, bytes) : headFit
    }
    const values = await releaseSecrets(names, { host, call, releases: ports.releases, fits })
    if (!values.ok) return values
    const out = filledHead(head.value, values.value)
    if (!out.ok) return out
    const bytes = body.value === null ? ok(null) : filledBody(body.value, values.value)
    if (!bytes.ok) return bytes
    const sent = await send(origin.value, { call, relayed, ...out.value, bytes: bytes.value })
    return sent.ok ? ok(relayOf(sent.value, values.value)) : sent
  },
})

interface Outgoing {
  readonly call: Pick<Call, 'signal' | 'deadlineAt' | 'notes'>
  readonly relayed: RelayedRequest
  readonly path: string
  readonly headers: readonly string[]
  /** Sent instead of the body of the request; null: the body is streamed. */
  readonly bytes: Uint8Array | null
}

interface Sent {
  readonly exchange: EgressExchange
  readonly flow: BodyFlow | null
}

async function send(
  origin: VettedOrigin,
  { call, relayed, path, headers, bytes }: Outgoing,
): Promise<Outcome<Sent>> {
  const broken = new AbortController()
  const flow =
    bytes === null && relayed.bodyBytes !== 0 ? new BodyFlow(relayed.body, () => broken.abort()) : null
  const sentAt = performance.now()
  flow?.start()
  const answer = await origin.exchange({
    method: relayed.method,
    path,
    headers,
    body: bytes ?? flow?.stream ?? null,
    bodyBytes: flow === null ? null : relayed.bodyBytes,
    // While the destination has not yet accepted the body, the body's own time limit applies; after the body the
    // destination's limit applies.
    beginsBy: () => (flow === null || flow.isWhole ? call.deadlineAt : flow.movedAt + EGRESS_BODY_STALL_MS),
    stallMs: EGRESS_ANSWER_STALL_MS,
    signal: flow === null ? call.signal : AbortSignal.any([call.signal, broken.signal]),
  })
  call.notes.upstreamMs = performance.now() - sentAt
  if (answer.ok) return ok({ exchange: answer.value, flow })
  flow?.stop()
  // The failure names the destination as the responsible party: a host that the caller chose is not a provider
  // of the catalogue.
  const failure = flow?.failure ?? {
    ...answer.failure,
    fields: { party: 'destination', ...answer.failure.fields },
  }
  return { ok: false, failure }
}

function relayOf({ exchange, flow }: Sent, values: ReadonlyMap<string, string>): Success {
  const { status, headers, body } = exchange
  const answer: RelayedAnswer = {
    status,
    headers: passedOn(headers, redactionOf(values)),
    bodyBytes: bytesOf(headers),
    body: {
      next: () => body.next(),
      close() {
        body.close()
        flow?.stop()
      },
    },
  }
  return { kind: 'relay', answer }
}

const AUTHORITY = /^(\[[0-9a-f:.]+\]|[^:@[\]%\\]+)(?::(\d{1,5}))?$/

/**
 * The destination of a request: the host, or host and port, in its path. The gate decides which destinations
 * are allowed. Failure: destination_refused.
 */
function destinationOf(authority: string): Outcome<Destination> {
  const [, name, port] = AUTHORITY.exec(authority.toLowerCase()) ?? []
  if (name === undefined)
    return fail('destination_refused', { detail: 'The destination is not `host` or `host:port`.' })
  const host = name.endsWith('.') ? name.slice(0, -1) : name
  return ok({ host, port: port === undefined ? null : Number(port), purpose: 'caller' })
}

/**
 * Headers that describe the destination's host, which for the client is Sluice's host; and `date`, which the
 * reply sets itself.
 */
const OF_HOST: ReadonlySet<string> = new Set(['alt-svc', 'strict-transport-security', 'date'])

/** The headers of a response that are passed on, in order. The reply itself sets the length. */
function passedOn(headers: readonly string[], redaction: Redaction): readonly string[] {
  const named = namedByConnection(headers)
  const passed: string[] = []
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const [name = '', value = ''] = [headers[at], headers[at + 1]]
    if (isOfConnection(name) || named.has(name) || name === 'content-length' || OF_HOST.has(name)) continue
    // Only Sluice itself may set `x-sluice-` headers.
    if (name.startsWith('x-sluice-') || redaction.isIn(name)) continue
    passed.push(name, redaction.of(value))
  }
  return passed
}

/** Length of the body; null when the response states none, or is chunked. */
function bytesOf(headers: readonly string[]): number | null {
  let bytes: number | null = null
  for (let at = 0; at + 1 < headers.length; at += 2) {
    if (headers[at] === 'transfer-encoding') return null
    if (headers[at] === 'content-length') bytes = Number(headers[at + 1])
  }
  return Number.isSafeInteger(bytes) ? bytes : null
}

interface Asking {
  readonly host: string
  readonly call: Pick<Call, 'key' | 'requestId'>
  readonly releases: SecretBundles
  readonly fits: BundleRequest['fits']
}

/**
 * Releases the values of secrets for one host, all or none, and each name once. No secret is decrypted if its
 * value would make the request too large. Failures: header_invalid (more than EGRESS_SECRETS_MAX), those of a
 * release, and those of `fits`; the first refusal ends the release.
 */
async function releaseSecrets(
  named: readonly string[],
  { host, call, releases, fits }: Asking,
): Promise<Outcome<ReadonlyMap<string, string>>> {
  const names = [...new Set(named)]
  if (names.length > EGRESS_SECRETS_MAX)
    return fail('header_invalid', { detail: `A request can use at most ${EGRESS_SECRETS_MAX} secrets.` })
  if (names.length === 0) return ok(new Map())
  const { key, requestId } = call
  const scope = {
    organizationId: key.organizationId,
    workspaceId: ownWorkspaceOf(key),
    internId: key.internId,
  }
  const by = { actor: { kind: 'key', id: key.hash }, requestId } as const
  const released = await releases.releaseAll({ scope, names, host, operation: 'egress.forward', by, fits })
  return released.ok
    ? ok(new Map([...released.value].map(([name, secret]) => [name, secret.reveal()])))
    : released
}

const JSON_TYPE = /^application\/(?:[\w.!#$&^-]+\+)?json(?:\s*;|$)/i
const FORM_TYPE = /^application\/x-www-form-urlencoded(?:\s*;|$)/i

interface BodyTemplate {
  readonly template: Template
  readonly place: Place
}

/**
 * Reads a body whose placeholders are to be replaced. JSON and forms get values in their own syntax; in any
 * other type they are inserted unchanged. Failures: body_too_large, header_invalid (an encoded body),
 * body_invalid (a malformed placeholder, a key of Sluice).
 */
async function bodyTemplate({ headers, body }: RelayedRequest): Promise<Outcome<BodyTemplate>> {
  const encoding = valueOf(headers, 'content-encoding')
  if (encoding !== '' && encoding.toLowerCase() !== 'identity')
    return fail('header_invalid', { detail: 'Placeholders cannot be replaced in an encoded body.' })
  const received = await wholeBody(body, EGRESS_SUBSTITUTED_BODY_BYTES_MAX)
  if (!received.ok) return received
  const type = valueOf(headers, 'content-type')
  const place = JSON_TYPE.test(type) ? 'json' : FORM_TYPE.test(type) ? 'query' : 'plain'
  const text = received.value.toString('latin1')
  if (holdsKey(text))
    return fail('body_invalid', { detail: 'The body contains an API key of this installation.' })
  const template = templateOf(text, place === 'query')
  return template === null ? malformed('body_invalid') : ok({ template, place })
}

function filledBody({ template, place }: BodyTemplate, values: ReadonlyMap<string, string>): Outcome<Buffer> {
  const text = filled(template, values, place)
  if (!text.ok) return text
  return text.value.length > EGRESS_FILLED_BODY_BYTES_MAX ? TOO_LARGE : ok(Buffer.from(text.value, 'latin1'))
}

/**
 * Checks whether a body may fit after its placeholders are replaced, before any secret is decrypted. Failure:
 * body_too_large.
 * @param bytes length of each value
 */
function bodyFits(body: BodyTemplate | null, bytes: ReadonlyMap<string, number>): Outcome<null> {
  return body === null || leastBytes(body.template, bytes) <= EGRESS_FILLED_BODY_BYTES_MAX
    ? ok(null)
    : TOO_LARGE
}

const TOO_LARGE = fail('body_too_large', { fields: { limit: EGRESS_FILLED_BODY_BYTES_MAX } })

function valueOf(headers: readonly string[], name: string): string {
  for (let at = 0; at + 1 < headers.length; at += 2) if (headers[at] === name) return headers[at + 1] ?? ''
  return ''
}

/** Least characters of an encoded form that is searched for: a shorter one would match unrelated text. */
const FORM_CHARS_MIN = 8

interface Redaction {
  /** @param text one byte in each character @returns the text with `[redacted:name]` instead of values */
  of(text: string): string
  /** @param name lower case */
  isIn(name: string): boolean
}

interface Needle {
  readonly text: string
  readonly mark: string
}

/**
 * Finds each value in plain text, percent-encoded, JSON-encoded, in hex, and in base64 at every position. A
 * value that a destination splits or transforms otherwise is not found.
 * @param values by name
 */
function redactionOf(values: ReadonlyMap<string, string>): Redaction {
  const needles = [...values]
    .flatMap(([name, value]) => needlesOf(value, `[redacted:${name}]`))
    // The longest first, since one secret may be part of another.
    .sort((one, other) => other.text.length - one.text.length)
  return {
    of: (text) => (needles.length === 0 ? text : redacted(text, needles)),
    isIn: (name) => needles.some(({ text }) => name.includes(text.toLowerCase())),
  }
}

/** Replaces the values in one pass that does not search the replacements, which could match again. */
function redacted(text: string, needles: readonly Needle[]): string {
  let open: string[] = [text]
  const pieces = (needle: Needle): string[] =>
    open.flatMap((piece, index) =>
      index % 2 === 1
        ? [piece]
        : piece.split(needle.text).flatMap((part, nth) => (nth === 0 ? [part] : [needle.mark, part])),
    )
  for (const needle of needles) if (text.includes(needle.text)) open = pieces(needle)
  return open.join('')
}

function needlesOf(value: string, mark: string): readonly Needle[] {
  const bytes = Buffer.from(value)
  const percented = encodeURIComponent(value.toWellFormed())
  const forms = [
    percented,
    percented.replace(/%[0-9A-F]{2}/g, (escape) => escape.toLowerCase()),
    JSON.stringify(value).slice(1, -1),
    bytes.toString('hex'),
    bytes.toString('hex').toUpperCase(),
    ...base64Of(bytes),
  ].filter((form) => form.length >= FORM_CHARS_MIN)
  return [...new Set([bytes.toString('latin1'), ...forms])].map((text) => ({ text, mark }))
}

/** The base64 characters of a value that do not depend on the text around it, for each of the three positions. */
function base64Of(bytes: Buffer): readonly string[] {
  return [0, 1, 2].flatMap((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64url')
    const from = before === 0 ? 0 : before + 1
    const stable = text.slice(from, Math.floor(((before + bytes.length) * 8) / 6))
    return [stable, stable.replaceAll('-', '+').replaceAll('_', '/')]
  })
}
