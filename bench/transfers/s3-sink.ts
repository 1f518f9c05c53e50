/**
 * A bucket that keeps no bytes, at full speed or at a rate: the target of uploads while memory is measured.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { plainEnvironment } from '../../test/support/load/load.ts'
import { stopServer } from '../../test/support/nodes/spawned.ts'

export interface S3Sink {
  /** Settings of a gateway that stores into the bucket. */
  readonly settings: Readonly<Record<string, string>>
  stop(): Promise<void>
}

/** @param bytesPerS rate of all uploads together; null: full speed */
export async function startS3Sink(bytesPerS: number | null): Promise<S3Sink> {
  const child = fork(fileURLToPath(import.meta.url), [String(bytesPerS ?? Infinity)], {
    env: plainEnvironment(),
    execArgv: [],
    detached: true,
  })
  const [port] = (await once(child, 'message')) as number[]
  return {
    settings: {
      SLUICE_OBJECTS: 's3://bench/sluice',
      SLUICE_S3_ENDPOINT: `http://127.0.0.1:${port ?? 0}`,
      SLUICE_S3_PATH_STYLE: 'on',
      AWS_ACCESS_KEY_ID: 'BENCH',
      AWS_SECRET_ACCESS_KEY: 'bench',
    },
    stop: () => stopServer(child),
  }
}

interface Kept {
  readonly bytes: number
  readonly metadata: Readonly<Record<string, string>>
}

class Bucket {
  readonly #kept = new Map<string, Kept>()
  readonly #bytesPerS: number
  /** Time until which the bytes so far take at the rate. */
  #freeAt = 0

  constructor(bytesPerS: number) {
    this.#bytesPerS = bytesPerS
  }

  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const key = request.url?.split('?')[0] ?? ''
    if (request.method === 'PUT') return this.#put(key, request, response)
    const kept = this.#kept.get(key)
    if (request.method === 'DELETE') {
      this.#kept.delete(key)
      response.writeHead(204).end()
    } else if (request.method === 'HEAD' && kept !== undefined) {
      const headers = {
        'content-length': kept.bytes,
        etag: '"bench"',
        'last-modified': new Date().toUTCString(),
      }
      response.writeHead(200, { ...headers, ...kept.metadata }).end()
    } else if (request.method === 'GET' && request.url?.includes('list-type=2') === true) {
      response.writeHead(200, { 'content-type': 'application/xml' }).end('<ListBucketResult/>')
    } else response.writeHead(404).end()
  }

  async #put(key: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    let bytes = 0
    for await (const chunk of request as AsyncIterable<Buffer>) {
      bytes += chunk.length
      await this.#pace(chunk.length)
    }
    const metadata = Object.entries(request.headers).filter(([name]) => name.startsWith('x-amz-meta-'))
    this.#kept.set(key, {
      bytes,
      metadata: Object.fromEntries(metadata.map(([name, value]) => [name, String(value)])),
    })
    response.writeHead(200, { etag: '"bench"' }).end()
  }

  async #pace(bytes: number): Promise<void> {
    if (this.#bytesPerS === Infinity) return
    const now = performance.now()
    this.#freeAt = Math.max(this.#freeAt, now) + (bytes / this.#bytesPerS) * 1_000
    await sleep(this.#freeAt - now)
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const bucket = new Bucket(Number(process.argv[2]))
  const server = createServer((request, response) => {
    bucket.serve(request, response).catch(() => response.destroy())
  })
  server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port))
  process.on('disconnect', () => process.exit(0))
}
