/** Peers on node:http, in a process of their own: busboy to disk, and the tus server. */
import busboy from 'busboy'
import { createReadStream, createWriteStream } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { pipeline } from 'node:stream/promises'
import { pathToFileURL } from 'node:url'
import { delayOf } from '../../src/server/observe/process-metrics.ts'

export interface PeerSettings {
  readonly kind: 'busboy' | 'tus'
  readonly port: number
  /** Folder with `files` to serve, and `uploads`. */
  readonly folder: string
  /** Folder with the installed tus packages. */
  readonly packages: string
}

/** Bytes of one read, as in other tuned servers. */
const READ_BYTES = 256 * 1024

let uploads = 0

async function receive(folder: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const path = join(folder, 'uploads', String(uploads++))
  const form = busboy({ headers: request.headers })
  const written: Promise<void>[] = []
  form.on('file', (_name, file) => written.push(pipeline(file, createWriteStream(path))))
  await pipeline(request, form)
  await Promise.all(written)
  if (request.url?.endsWith('?fsync') === true) await sync(path)
  response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
}

async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r')
  await handle.sync().finally(() => handle.close())
}

async function handOut(folder: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const path = join(folder, request.url ?? '')
  response.writeHead(200, {
    'content-type': 'application/octet-stream',
    'content-length': (await stat(path)).size,
  })
  await pipeline(createReadStream(path, { highWaterMark: READ_BYTES }), response)
}

interface TusServer {
  listen(options: { readonly host: string; readonly port: number }): unknown
}

/**
 * Starts tus. The packages are no dependencies of Sluice: they are loaded from the folder in which the bench
 * installs its peers.
 */
async function startTus({ folder, packages, port }: PeerSettings): Promise<void> {
  const load = async (name: string): Promise<unknown> => {
    return import(pathToFileURL(join(packages, name, 'dist/index.js')).href)
  }
  const { Server } = (await load('server')) as { Server: new (options: object) => TusServer }
  const { FileStore } = (await load('file-store')) as { FileStore: new (options: object) => object }
  const datastore = new FileStore({ directory: join(folder, 'uploads') })
  new Server({ path: '/tus', datastore }).listen({ host: '127.0.0.1', port })
}

function startBusboy({ folder, port }: PeerSettings): void {
  createServer((request, response) => {
    const work =
      request.method === 'POST' ? receive(folder, request, response) : handOut(folder, request, response)
    work.catch(() => response.destroy())
  }).listen(port, '127.0.0.1')
}

/** Milliseconds of the sampling timer, which is subtracted from readings as in the product. */
const RESOLUTION_MS = 1
const loop = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
loop.enable()

process.on('message', (message: PeerSettings | 'loop') => {
  if (message === 'loop') {
    process.send?.(delayOf(loop.percentile(99), RESOLUTION_MS) * 1_000)
    loop.reset()
  } else if (message.kind === 'tus') void startTus(message)
  else startBusboy(message)
})
process.on('disconnect', () => process.exit(0))
