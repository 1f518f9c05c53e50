/**
 * A minimal server: node:http, one insert, one job queue, in a process of its own; no worker empties the
 * queue.
 */
import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import postgres from 'postgres'

export interface PeerSettings {
  readonly kind: 'bullmq' | 'pg-boss'
  readonly port: number
  readonly databaseUrl: string
  readonly redisUrl: string
  /** Folder with the installed packages. */
  readonly packages: string
}

type Enqueue = (id: string) => Promise<unknown>

const POOL_MAX = 16

/**
 * Loads a queue. The packages are no dependencies of Sluice: they are loaded from the folder in which the
 * bench installs its peers.
 */
async function queueOf({ kind, databaseUrl, redisUrl, packages }: PeerSettings): Promise<Enqueue> {
  const load = createRequire(join(packages, 'package.json'))
  if (kind === 'bullmq') {
    const { Queue } = load('bullmq') as { Queue: new (name: string, options: object) => BullQueue }
    const { port, hostname } = new URL(redisUrl)
    const queue = new Queue('videos', { connection: { host: hostname, port: Number(port) } })
    return (id) => queue.add('make', { id }, { jobId: id, attempts: 5 })
  }
  const PgBoss = load('pg-boss') as new (options: object) => Boss
  const boss = new PgBoss({ connectionString: databaseUrl, max: POOL_MAX, schema: 'peer_boss' })
  await boss.start()
  await boss.createQueue('videos')
  return (id) => boss.send('videos', { id })
}

interface BullQueue {
  add(name: string, data: object, options: object): Promise<unknown>
}

interface Boss {
  start(): Promise<unknown>
  createQueue(name: string): Promise<unknown>
  send(name: string, data: object): Promise<unknown>
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const piece of request.setEncoding('utf8') as AsyncIterable<string>) text += piece
  return text
}

process.once('message', (settings: PeerSettings) => void start(settings))

async function start(settings: PeerSettings): Promise<void> {
  const sql = postgres(settings.databaseUrl, { max: POOL_MAX, onnotice: () => undefined })
  await sql`
    CREATE TABLE IF NOT EXISTS peer_jobs (
      id uuid PRIMARY KEY, state text NOT NULL, request jsonb NOT NULL, created_at timestamptz NOT NULL DEFAULT now())`
  const enqueue = await queueOf(settings)
  const server = createServer((request, response) => {
    void textOf(request)
      .then(async (text) => {
        const id = randomUUID()
        await sql`INSERT INTO peer_jobs (id, state, request) VALUES (${id}, 'pending', ${sql.json(JSON.parse(text) as never)})`
        await enqueue(id)
        const body = JSON.stringify({ id, polling_url: `/videos/${id}`, status: 'pending' })
        response
          .writeHead(202, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
          .end(body)
      })
      .catch((problem: unknown) => void response.writeHead(500).end(String(problem)))
  })
  server.listen(settings.port, '127.0.0.1', () => process.send?.('ready'))
}
