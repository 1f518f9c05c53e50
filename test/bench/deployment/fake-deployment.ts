/**
 * A fake deployment with any conduct that a test gives it, and the load test against it as a user starts it.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ScenarioRecord } from '../../../bench/record.ts'
import { plainEnvironment } from '../../support/load/load.ts'

export type Conduct = (request: IncomingMessage, response: ServerResponse) => void

export interface FakeDeployment {
  readonly origin: string
  readonly port: number
  /** Method and path of each request, in order. */
  readonly seen: string[]
}

interface Teardown {
  teardown(done: () => Promise<unknown>): unknown
}

/** @param conduct by path; `*` for paths without one. By default it answers as Sluice does */
export async function fakeDeployment(
  t: Teardown,
  conduct: Readonly<Record<string, Conduct>> = {},
): Promise<FakeDeployment> {
  const seen: string[] = []
  const server = createServer((request, response) => {
    const path = (request.url ?? '').split('?')[0] ?? ''
    seen.push(`${request.method ?? ''} ${path}`)
    request.resume()
    request.on('error', () => {})
    const own = conduct[path] ?? conduct['*']
    if (own !== undefined) return own(request, response)
    request.on('end', () => response.end('{"id":"file_1"}'))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(
    () =>
      new Promise((resolve) => {
        server.close(resolve)
        server.closeAllConnections()
      }),
  )
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return { origin: `http://127.0.0.1:${port}`, port, seen }
}

export interface Ran {
  readonly code: number | null
  readonly output: string
  /** Null when none was written. */
  readonly record: ScenarioRecord | null
  /** What stands in the file of the record. */
  readonly written: string
}

export const KEY = 'sk-fake-0123456789'
/** Of each cell: a generator that stands still for as long has asked nothing when its time is over. */
const SECONDS = '3'
const PROGRAM = fileURLToPath(new URL('../../../bench/deployment.js', import.meta.url))

export function loadTest(target: string, ...args: readonly string[]): Promise<Ran> {
  return interruptedTest(target, args, () => false)
}

/** @param isTime looked at all the time: the first true interrupts it */
export async function interruptedTest(
  target: string,
  args: readonly string[],
  isTime: () => boolean,
): Promise<Ran> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-deployment-'))
  try {
    const file = join(folder, 'record.json')
    const all = [
      PROGRAM,
      '--target',
      target,
      '--key',
      KEY,
      '--record',
      file,
      '--duration',
      SECONDS,
      '--rate',
      '20',
      ...args,
    ]
    const child = spawn(process.execPath, all, { env: plainEnvironment(), stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (bytes: Buffer) => void (output += bytes.toString()))
    const look = setInterval(() => {
      if (!isTime()) return
      clearInterval(look)
      child.kill('SIGINT')
    }, 5)
    const [code] = (await once(child, 'close')) as [number | null]
    clearInterval(look)
    const written = await readFile(file, 'utf8').catch(() => '')
    return { code, output, written, record: written === '' ? null : (JSON.parse(written) as ScenarioRecord) }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
