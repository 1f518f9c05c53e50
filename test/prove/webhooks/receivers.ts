import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import { startTarget } from '../../support/egress/vetted-stand.ts'
import { verifiesAsB5, verifiesAsStandard } from '../../support/webhooks/webhook-verifiers.ts'

/** What a receiver knows of one delivery, by its idempotency key. */
export interface Received {
  readonly ids: Set<string>
  readonly bodies: Set<string>
  attempts: number
  /** Times that it was answered with 2xx. */
  accepted: number
  /** Milliseconds of the wall clock at the last of them. */
  acceptedAtMs: number
}

export interface Receivers {
  readonly hosts: readonly string[]
  readonly received: ReadonlyMap<string, Received>
  readonly faults: Readonly<Record<string, number>>
  /** Attempts that one of the verifiers refused. */
  readonly unverified: () => number
  url(nth: number): string
  /** From now on every attempt is accepted. */
  heal(): void
  close(): Promise<void>
}

export interface ReceiverOptions {
  readonly tls: { readonly key: string; readonly cert: string }
  readonly secret: string
  /** A whole number from 0 to below the bound. */
  readonly random: (below: number) => number
}

const HOSTS = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight'].map(
  (name) => `${name}.hooks.example`,
)

/** Ways in which an attempt fails. */
const FAULTS: Readonly<Record<string, (res: ServerResponse) => void>> = {
  'server error': (res) => void res.writeHead(500).end('no'),
  'too many requests': (res) => void res.writeHead(429, { 'retry-after': '1' }).end(),
  redirect: (res) => void res.writeHead(302, { location: 'https://one.hooks.example/' }).end(),
  reset: (res) => void res.socket?.destroy(),
  'half an answer': (res) => void res.socket?.end('HTTP/1.1 200'),
  'no answer': () => undefined,
}

/**
 * Receivers that fail half of all attempts, each attempt in a way of its own, and keep a log of deliveries.
 */
export async function startReceivers({ tls, secret, random }: ReceiverOptions): Promise<Receivers> {
  const target = await startTarget(tls)
  const received = new Map<string, Received>()
  const faults: Record<string, number> = {}
  let unverified = 0
  let isHealed = false
  target.answer((req, res) => {
    const pieces: Buffer[] = []
    req
      .on('data', (piece: Buffer) => pieces.push(piece))
      .on('end', () => {
        const body = Buffer.concat(pieces)
        if (!verifiesAsB5(secret, req.headers, body) || !verifiesAsStandard(secret, req.headers, body))
          unverified++
        const one = noted(received, req.headers, body)
        const ways = Object.keys(FAULTS)
        const fault = isHealed || random(2) === 0 ? undefined : ways[random(ways.length)]
        if (fault === undefined) {
          one.accepted++
          one.acceptedAtMs = Date.now()
          res.writeHead(200).end('thanks')
          return
        }
        faults[fault] = (faults[fault] ?? 0) + 1
        FAULTS[fault]?.(res)
      })
  })
  return {
    hosts: HOSTS,
    received,
    faults,
    unverified: () => unverified,
    url: (nth) => `https://${HOSTS[nth % HOSTS.length] ?? ''}:${target.port}/in/${nth}?token=t`,
    heal: () => void (isHealed = true),
    close: () => target.close(),
  }
}

function noted(received: Map<string, Received>, headers: IncomingHttpHeaders, body: Buffer): Received {
  const key = String(headers['x-sluice-idempotency-key'])
  const known = received.get(key) ?? {
    ids: new Set<string>(),
    bodies: new Set<string>(),
    attempts: 0,
    accepted: 0,
    acceptedAtMs: 0,
  }
  received.set(key, known)
  known.ids.add(String(headers['webhook-id']))
  known.bodies.add(createHash('sha256').update(body).digest('hex'))
  known.attempts++
  return known
}
