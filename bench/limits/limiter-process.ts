/**
 * The smallest server with a limiter: the key's hash, one check, 200 or 429. The server runs in a process of
 * its own, with a Redis of its own.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hashOfBearer } from '../../src/server/access/access.ts'
import { launchInMemory, launchServer } from '../../src/server/supervisor/redis/redis-child.ts'
import { needsRedis, openLimiter, type Limiter, type LimiterName } from './limiters.ts'

export interface LimiterSettings {
  readonly name: LimiterName
  readonly port: number
  readonly limitRpm: number
  /** Null: the in-memory Redis of the product. */
  readonly redisCommand: string | null
  readonly packages: string
}

const BODY = '{"data":null}'
const HEADERS = ['content-type', 'application/json', 'content-length', String(BODY.length)]

process.once('message', (settings: LimiterSettings) => void start(settings))

async function start({ name, port, limitRpm, redisCommand, packages }: LimiterSettings): Promise<void> {
  const socketPath = needsRedis(name) ? await redis(redisCommand) : null
  const limiter = await openLimiter(name, { limitRpm, socketPath, packages })
  createServer(({ headers: { authorization = '' } }, response) => {
    void answer(
      limiter,
      hashOfBearer(authorization),
      (status) => void response.writeHead(status, HEADERS).end(BODY),
    )
  }).listen(port, '127.0.0.1', () => process.send?.('ready'))
}

/** Answers synchronously where the limiter does: a promise would add the server's own cost. */
function answer(limiter: Limiter, hash: string, tell: (status: number) => void): void | Promise<void> {
  const may = limiter(hash)
  if (may instanceof Promise)
    return may.then(
      (isIn) => tell(isIn ? 200 : 429),
      () => tell(500),
    )
  tell(may ? 200 : 429)
}

/** Starts a Redis that ends with this process in any case. */
async function redis(command: string | null): Promise<string> {
  const home = mkdtempSync(join(tmpdir(), 'sluice-limiter-'))
  const socketPath = join(home, 'redis.sock')
  const running =
    command === null
      ? await launchInMemory({ socketPath })
      : await launchServer({ command, socketPath, home })
  const end = (): void => {
    void running.stop().then(() => {
      rmSync(home, { recursive: true, force: true })
      process.exit(0)
    })
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, end)
  process.once('disconnect', end)
  return socketPath
}

process.once('disconnect', () => setTimeout(() => process.exit(0), 10_000).unref())
