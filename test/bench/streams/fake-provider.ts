/** A server of streams that does as a test says, and the load test against it as a user starts it. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ScenarioRecord } from '../../../bench/record.ts'
import { plainEnvironment } from '../../support/load/load.ts'
import type { Teardown } from '../../support/teardown.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

/** @param nth of the request, from 0 */
export type Conduct = (response: ServerResponse, body: string, nth: number) => void

export interface FakeProvider {
  readonly origin: string
  readonly bodies: string[]
  readonly requests: IncomingMessage[]
}

export async function fakeProvider(t: Teardown, conduct: Conduct): Promise<FakeProvider> {
  const bodies: string[] = []
  const requests: IncomingMessage[] = []
  const server = createServer((request, response) => {
    let body = ''
    const nth = requests.push(request) - 1
    request.setEncoding('utf8').on('data', (text: string) => (body += text))
    request.on('error', () => {})
    request.on('end', () => {
      bodies.push(body)
      conduct(response, body, nth)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  )
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return { origin: `http://127.0.0.1:${port}`, bodies, requests }
}

export function eventsHead(response: ServerResponse): ServerResponse {
  return response.writeHead(200, { 'content-type': 'text/event-stream' })
}

/** Events of a chat with these texts, the usage and the end. */
export function chatEvents(texts: readonly string[], isWhole = true): string {
  const events = texts.map((content) => ({ choices: [{ index: 0, delta: { content } }] }))
  const usage = { choices: [], usage: { prompt_tokens: 1, completion_tokens: texts.length } }
  const all = [...events, usage].map((event) => `data: ${JSON.stringify(event)}\n\n`)
  return `${all.join('')}${isWhole ? 'data: [DONE]\n\n' : ''}`
}

export interface Ran {
  readonly code: number | null
  readonly output: string
  readonly record: ScenarioRecord | null
  readonly csv: readonly string[]
  readonly hdr: readonly string[]
}

export const KEY = 'sk-fake-0123456789'
const PROGRAM = fileURLToPath(new URL('../../../bench/streams.js', import.meta.url))

export async function streamTest(t: Teardown, target: string, ...args: readonly string[]): Promise<Ran> {
  const folder = temporaryFolder(t, 'streams')
  const read = (name: string): Promise<string> => readFile(join(folder, name), 'utf8').catch(() => '')
  const files = ['record', 'csv', 'hdr'].flatMap((name) => [`--${name}`, join(folder, name)])
  const all = [PROGRAM, '--target', target, '--key', KEY, '--stream', '--duration', '2', ...files, ...args]
  const child = spawn(process.execPath, all, { env: plainEnvironment(), stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (bytes: Buffer) => void (output += bytes.toString()))
  const [code] = (await once(child, 'close')) as [number | null]
  const record = await read('record')
  return {
    code,
    output,
    record: record === '' ? null : (JSON.parse(record) as ScenarioRecord),
    csv: (await read('csv')).trim().split('\n'),
    hdr: (await read('hdr')).trim().split('\n'),
  }
}
