/** A front with the egress route, secrets in memory, and loopback targets that do what a test says. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'
import { fail, ok } from '../../../src/schemas/failures.ts'
import { Secret } from '../../../src/schemas/vault/secret.ts'
import { openEgress } from '../../../src/server/egress/egress.ts'
import type { HttpOptions } from '../../../src/server/http/front.ts'
import { forwardRequest } from '../../../src/server/operations/egress/forward-request.ts'
import type { AnyOperation } from '../../../src/server/operations/define.ts'
import type { Egress } from '../../../src/server/ports/egress/egress.ts'
import type { Ports } from '../../../src/server/ports/ports.ts'
import type { BundleRequest, ReleaseRequest } from '../../../src/server/ports/vault/vault.ts'
import { KEY, openFront, patient, type TestFront } from '../front.ts'
import { NO_FILES } from '../files/no-files.ts'

export interface EgressFront extends TestFront {
  /** `/egress/localhost:<port>`: the rest of the path is the target's. */
  readonly base: string
  readonly target: Server
  readonly egress: Egress
  /** Every release that was asked for, in order. */
  readonly releases: readonly ReleaseRequest[]
  /** A request with a key; `path` begins with a slash. */
  ask(path: string, init?: RequestInit): Promise<Response>
}

/** The gate itself, where every name is one of this machine and plain HTTP is spoken to it. */
export function loopbackGate(): Egress {
  return openEgress({ allow: ['http:127.0.0.1'], resolve: () => Promise.resolve(['127.0.0.1']) })
}

export interface EgressFrontOptions extends Partial<HttpOptions> {
  readonly target: (req: IncomingMessage, res: ServerResponse) => void | Promise<void>
  /** Changes of the operation: its deadline. */
  readonly operation?: Partial<AnyOperation>
  readonly egress?: Egress
  /** Values by name, all of them bound to `localhost`. */
  readonly secrets?: Readonly<Record<string, string>>
}

export async function openEgressFront(t: Test, options: EgressFrontOptions): Promise<EgressFront> {
  const { target: listener, operation, egress = loopbackGate(), secrets = {}, ...more } = options
  const target = createServer((req, res) => void listener(req, res))
  target.keepAliveTimeout = 60_000
  await new Promise<void>((listening) => target.listen(0, '127.0.0.1', listening))
  t.teardown(async () => {
    await egress.close()
    target.closeAllConnections()
    target.close()
  })
  const releases: ReleaseRequest[] = []
  const ports = {
    ...NO_FILES,
    egress,
    releases: {
      releaseAll({ names, fits, ...request }: BundleRequest) {
        const isBound = (name: string): boolean =>
          request.host === 'localhost' && Object.hasOwn(secrets, name)
        const refused = names.find((name) => !isBound(name))
        if (refused !== undefined) {
          releases.push({ ...request, name: refused })
          return Promise.resolve(fail('secret_not_released', { fields: { name: refused } }))
        }
        const fit = fits(new Map(names.map((name) => [name, Buffer.byteLength(secrets[name] ?? '')])))
        if (!fit.ok) return Promise.resolve(fit)
        releases.push(...names.map((name) => ({ ...request, name })))
        return Promise.resolve(ok(new Map(names.map((name) => [name, new Secret(secrets[name] ?? '')]))))
      },
    },
  } as unknown as Ports
  const front = await openFront(t, [{ ...forwardRequest, ...operation }], {
    ports,
    timers: patient(),
    ...more,
  })
  const base = `${front.url}/egress/localhost:${(target.address() as AddressInfo).port}`
  const ask = (path: string, init: RequestInit = {}): Promise<Response> =>
    fetch(`${base}${path}`, {
      redirect: 'manual',
      ...init,
      headers: { 'x-sluice-key': KEY, ...init.headers },
    })
  return { ...front, base, target, egress, releases, ask }
}

/** Bytes that a client of the front sends: the request line and headers with a key, as they stand. */
export function egressText(line: string, headers: readonly string[] = [], body = ''): string {
  return [`${line} HTTP/1.1`, 'host: localhost', `x-sluice-key: ${KEY}`, ...headers, '', body].join('\r\n')
}

export interface OurError {
  readonly status: number
  readonly type: string
  /** `x-sluice-error`. */
  readonly header: string | null
  readonly message: string
}

/** What an error of ours says. */
export async function errorOf(answer: Response): Promise<OurError> {
  const { error } = (await answer.json()) as { error: { message: string; metadata: { error_type: string } } }
  return {
    status: answer.status,
    type: error.metadata.error_type,
    header: answer.headers.get('x-sluice-error'),
    message: error.message,
  }
}

/** The body of a request or an answer, whole. */
export async function textOf(from: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = []
  for await (const piece of from) pieces.push(piece as Buffer)
  return Buffer.concat(pieces).toString()
}
