import Type from 'typebox'
import { ok, type Outcome } from '../../../schemas/failures.ts'
import {
  EGRESS_ANSWER_STALL_MS,
  EGRESS_BODY_STALL_MS,
  EGRESS_DEADLINE_MS,
} from '../../../schemas/egress/egress-limits.ts'
import type { EgressExchange, VettedOrigin } from '../../ports/egress/egress.ts'
import type { RelayedAnswer, RelayedRequest } from '../../ports/egress/relay.ts'
import { defineOperation, ownWorkspaceOf, type Call, type Success } from '../define.ts'
import { bytesOf, passedOn } from './answer-headers.ts'
import { BodyFlow } from './body-flow.ts'
import { destinationOf } from './destination.ts'
import { bodyFits, bodyTemplate, filledBody } from './filled-body.ts'
import { filledHead, headFits, outgoingHead } from './outgoing-head.ts'
import { redactionOf } from './redaction.ts'
import { releaseSecrets } from './release-secrets.ts'

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
  outlivesClient: false,
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
  /** Replaces the body of the request; null: the body is streamed. */
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
    // A body that the destination does not take has a limit of its own; the time after the body belongs to
    // the destination.
    beginsBy: () => (flow === null || flow.isWhole ? call.deadlineAt : flow.movedAt + EGRESS_BODY_STALL_MS),
    stallMs: EGRESS_ANSWER_STALL_MS,
    signal: flow === null ? call.signal : AbortSignal.any([call.signal, broken.signal]),
  })
  call.notes.upstreamMs = performance.now() - sentAt
  if (answer.ok) return ok({ exchange: answer.value, flow })
  flow?.stop()
  // The failure names a destination as its party: a host of the caller's choice is no provider of the
  // catalogue.
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
