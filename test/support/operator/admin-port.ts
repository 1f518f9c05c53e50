/** The admin port in this process, in front of a public port that follows the test. */
import {
  createServer,
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { readFileSync } from 'node:fs'
import { once } from 'node:events'
import { newApiKey } from '../../../src/schemas/keys/api-keys.ts'
import {
  startAdmin,
  type AdminOptions,
  type AdminPort,
} from '../../../src/server/supervisor/admin-port/port.ts'
import type { ReadinessView } from '../../../src/schemas/operator/live-view.ts'
import type { Certificate } from '../wire/certificate.ts'
import { SILENT } from '../log.ts'
import { portOf } from '../wire/raw-server.ts'
import { freePort } from '../nodes/spawned.ts'
import type { Teardown } from '../teardown.ts'

/** Of the operator organization, and of another one. */
export const OPERATOR_KEY = newApiKey('management').key
export const FOREIGN_KEY = newApiKey('management').key

export type Script = (request: IncomingMessage, response: ServerResponse) => void

export interface PublicStand {
  readonly port: number
  /** `<method> <path>` of all that came, looks at keys included. */
  readonly asked: readonly string[]
  /** Connections that came. */
  readonly connections: number
  /** What it says of the operator's key. */
  readonly isRevoked: boolean
  /** Refuses the operator's key from now on. */
  revoke(): void
  close(): void
}

const SESSION = '/api/v1/admin/session'

/** A public port that knows one operator's key, and does with all else as the script says. */
export async function publicStand(
  t: Teardown,
  script: Script,
  tls: Certificate | null = null,
): Promise<PublicStand> {
  const asked: string[] = []
  let [connections, isRevoked] = [0, false]
  const answer: Script = (request, response) => {
    asked.push(`${request.method} ${request.url}`)
    if (request.url !== SESSION) return script(request, response)
    const status = statusFor(request.headers.authorization, isRevoked)
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ status }))
  }
  const server =
    tls === null
      ? createServer(answer)
      : createTlsServer({ cert: readFileSync(tls.certFile), key: readFileSync(tls.keyFile) }, answer)
  server.on('connection', () => connections++)
  const close = (): void => {
    server.close()
    server.closeAllConnections()
  }
  t.teardown(close)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: portOf(server),
    asked,
    close,
    get connections() {
      return connections
    },
    get isRevoked() {
      return isRevoked
    },
    revoke() {
      isRevoked = true
    },
  }
}

function statusFor(authorization: string | undefined, isRevoked: boolean): number {
  if (authorization === `Bearer ${FOREIGN_KEY}`) return 403
  return authorization === `Bearer ${OPERATOR_KEY}` && !isRevoked ? 200 : 401
}

export interface AdminStand {
  readonly admin: AdminPort
  readonly port: number
  /** By the operator, unless the headers say otherwise. */
  ask(path: string, more?: AskMore): Promise<Asked>
}

export interface AskMore {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
}

export interface Asked {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  /** The error's code, if it is one in our envelope. */
  readonly error: string | null
}

/** Opens it; it ends with the test. */
export async function adminStand(
  t: Teardown,
  publicPort: number,
  more: Partial<AdminOptions> = {},
): Promise<AdminStand> {
  const port = await freePort()
  const admin = await startAdmin({
    host: '127.0.0.1',
    port,
    publicPort: { host: '127.0.0.1', port: publicPort, isTls: false },
    version: '1.2.3',
    log: SILENT,
    keyGraceMs: () => 60_000,
    readiness: () => READY,
    advice: () => [],
    command: 'sluice',
    looks: () => Promise.resolve([]),
    metrics: () => Promise.resolve('up 1\n'),
    ...more,
  })
  t.teardown(() => admin.close())
  return { admin, port, ask: (path, input) => ask(port, path, input) }
}

export function ask(
  port: number,
  path: string,
  { method = 'GET', headers = { authorization: `Bearer ${OPERATOR_KEY}` }, body }: AskMore = {},
): Promise<Asked> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      { host: '127.0.0.1', port, path, method, headers, agent: false },
      (answer) => {
        const pieces: Buffer[] = []
        answer.on('data', (piece: Buffer) => pieces.push(piece))
        answer.once('error', reject)
        answer.once('end', () => resolve(askedOf(answer, Buffer.concat(pieces))))
      },
    )
    request.once('error', reject)
    request.end(body)
  })
}

function askedOf({ statusCode: status = 0, headers }: IncomingMessage, body: Buffer): Asked {
  const isError = status >= 400 && headers['content-type'] === 'application/json' && body.length > 0
  const parsed = isError
    ? (JSON.parse(body.toString()) as { error?: { metadata?: { error_type?: string } } })
    : {}
  return { status, headers, body, error: parsed.error?.metadata?.error_type ?? null }
}

const UP = { state: 'up', mode: 'external', since: '2027-01-01T00:00:00.000Z' } as const
const COUNTS = { ready: 1, wanted: 1, configured: 1 }
export const READY: ReadinessView = {
  status: 'ready',
  reasons: [],
  degraded: [],
  dependencies: { postgres: UP, redis: UP, storage: UP },
  fronts: COUNTS,
  workers: COUNTS,
  runners: { ready: 1, wanted: 1 },
}
