import { readFileSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { openStore, type Sql } from '../../../../src/server/store/base/open.ts'
import { runtimeOf, type Runtime } from '../../../../src/server/supervisor/data-directory/data-directory.ts'
import {
  firstKeys,
  nodeSettings,
  startNode,
  type Settings,
  type TestNode,
} from '../../../support/nodes/node.ts'
import type { Proof } from '../../proof.ts'
import type { Marker } from './needles.ts'
import { connected } from '../../../support/wire/connected.ts'

/** A node on its embedded stores, with all that takes something out of it. */
export interface CanaryStand {
  readonly marker: Marker
  readonly settings: Settings
  readonly sink: Sink
  readonly target: Target
  /** Heads and bodies of all replies. */
  readonly replies: string[]
  /** What nodes before this one printed. */
  readonly outputs: string[]
  node: TestNode
  call(
    method: string,
    path: string,
    more?: CallMore,
  ): Promise<{ readonly status: number; readonly body: Record<string, unknown> }>
  start(): Promise<void>
}

interface CallMore {
  readonly key?: 'management' | 'inference'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
  /** A body as it is. */
  readonly text?: string
}

/** @param more settings besides the stand's own */
export async function startCanaryStand(
  proof: Proof,
  marker: Marker,
  more: Settings = {},
): Promise<CanaryStand> {
  const home = { teardown: (close: () => Promise<void> | void) => proof.after(async () => close()) }
  const sink = await startSink(proof)
  const target = await startTarget(proof)
  const settings = {
    ...(await nodeSettings(home, { isEmbedded: true })),
    SLUICE_FRONTS: '2',
    SLUICE_LOG_LEVEL: 'debug',
    SLUICE_BROADCAST: sink.url,
    OTEL_EXPORTER_OTLP_ENDPOINT: sink.url,
    SLUICE_EGRESS_ALLOW: `http:127.0.0.0/8:${target.port},http:[::1/128]:${target.port}`,
    ...more,
  }
  const stand: CanaryStand = {
    marker,
    settings,
    sink,
    target,
    replies: [],
    outputs: [],
    node: await startNode(home, settings),
    async call(method, path, { key = 'inference', headers = {}, body, text } = {}) {
      const keys = firstKeys(stand.node.dataDir)
      const url = `${stand.node.ready.url}${path.startsWith('/egress') ? '' : '/api/v1'}${path}`
      const answer = await fetch(url, {
        method,
        headers: {
          ...credentialOf(path, keys[`${key}_key`] ?? ''),
          'content-type': 'application/json',
          // A pool may stop for good at a connection that a killed front reset.
          connection: 'close',
          ...headers,
        },
        ...(body === undefined && text === undefined ? {} : { body: text ?? JSON.stringify(body) }),
      })
      const read = await answer.text()
      stand.replies.push(`${JSON.stringify([...answer.headers])} ${read}`)
      return {
        status: answer.status,
        body: read.startsWith('{') ? (JSON.parse(read) as Record<string, unknown>) : {},
      }
    },
    async start() {
      stand.outputs.push(stand.node.output())
      stand.node = await startNode(home, settings)
    },
  }
  return stand
}

/** On the egress route `Authorization` is the target's. */
function credentialOf(path: string, key: string): Record<string, string> {
  return path.startsWith('/egress') ? { 'x-sluice-key': key } : { authorization: `Bearer ${key}` }
}

/** Takes spans and broadcasts. */
interface Sink {
  readonly url: string
  readonly bodies: readonly Buffer[]
}

async function startSink(proof: Proof): Promise<Sink> {
  const bodies: Buffer[] = []
  const port = await listen(
    proof,
    createServer((req, res) => {
      const pieces: Buffer[] = [Buffer.from(`${req.url ?? ''} ${JSON.stringify(req.headers)}`)]
      req.on('data', (piece: Buffer) => pieces.push(piece))
      req.on('end', () => {
        bodies.push(Buffer.concat(pieces))
        res.writeHead(200, { 'content-type': 'application/json' }).end('{}')
      })
    }),
  )
  return { url: `http://127.0.0.1:${port}`, bodies }
}

/** Where secrets go: it says a header of each request again in a header of its answer. */
interface Target {
  readonly port: number
  readonly heads: readonly IncomingHttpHeaders[]
}

async function startTarget(proof: Proof): Promise<Target> {
  const heads: IncomingHttpHeaders[] = []
  const port = await listen(
    proof,
    createServer((req, res) => {
      heads.push(req.headers)
      req.resume()
      const token = String(req.headers['x-token'] ?? '')
      req.on('end', () =>
        res.writeHead(401, { 'x-echo': token, 'set-cookie': [`a=${encodeURIComponent(token)}`] }).end('no'),
      )
    }),
  )
  return { port, heads }
}

async function listen(proof: Proof, server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  proof.after(
    () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  )
  return (server.address() as AddressInfo).port
}

export async function withPostgres(dataDir: string, use: (sql: Sql) => PromiseLike<unknown>): Promise<void> {
  const { databaseUrl } = running(dataDir)
  const store = await connected(openStore({ url: databaseUrl, poolMax: 1, applicationName: 'sluice-prove' }))
  try {
    await use(store.sql)
  } finally {
    await store.close()
  }
}

export async function withRedis(dataDir: string, use: (redis: Redis) => Promise<unknown>): Promise<void> {
  const { redis: address } = running(dataDir)
  const redis = 'url' in address ? new Redis(address.url) : new Redis(address.socketPath)
  try {
    await use(redis)
  } finally {
    redis.disconnect()
  }
}

export async function valueOf(redis: Redis, key: string): Promise<unknown> {
  switch (await redis.type(key)) {
    case 'hash':
      return redis.hgetall(key)
    case 'list':
      return redis.lrange(key, 0, -1)
    case 'set':
      return redis.smembers(key)
    case 'zset':
      return redis.zrange(key, 0, -1)
    default:
      return redis.get(key)
  }
}

/** Where the embedded Postgres keeps its files. */
export function clusterOf(dataDir: string): string {
  const { cluster } = JSON.parse(readFileSync(join(dataDir, 'postgres.json'), 'utf8')) as { cluster: string }
  return cluster.startsWith('/') ? cluster : join(dataDir, cluster)
}

function running(dataDir: string): Runtime {
  const runtime = runtimeOf(dataDir)
  if (runtime === null) throw new Error('no node runs there')
  return runtime
}
