import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { heapFigures, openHeapWatch } from '../../../bench/heap/heap.ts'
import { startBareRelay } from '../../../bench/peers/relays.ts'

const ANSWER = JSON.stringify({ data: 'a'.repeat(200_000) })
const BODY = JSON.stringify({ input: 'a'.repeat(100_000) })
/** Calls whose garbage fills the young generation more than once. */
const CALLS = 60

/** Sends the answer in two pieces; without a path that it knows it ends the connection. */
async function openProvider(): Promise<Server> {
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (text: string) => (body += text))
    request.on('end', () => {
      if (request.url !== '/v1/embeddings' || body !== BODY) return void request.socket.destroy()
      response.writeHead(200, { 'content-length': String(ANSWER.length) })
      response.write(ANSWER.slice(0, 100_000))
      setImmediate(() => response.end(ANSWER.slice(100_000)))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

for (const name of ['relay', 'lean-relay'] as const)
  t.test(`the ${name} forwards whole bodies in both directions and reports garbage collection`, (t) =>
    passes(t, name),
  )

async function passes(t: Test, name: 'relay' | 'lean-relay'): Promise<void> {
  const provider = await openProvider()
  t.teardown(() => void provider.close().closeAllConnections())
  const heap = await openHeapWatch()
  t.teardown(() => heap.close())
  const { port: providerPort } = provider.address() as AddressInfo
  const relay = await startBareRelay(name, { providerPort, body: BODY, heap })
  t.teardown(() => relay.stop())
  const { method, path, headers } = relay.request
  const ask = (body: string): Promise<Response> =>
    fetch(`http://127.0.0.1:${relay.port}${path}`, { method, headers, body })
  const before = await heap.read(relay.pid)
  const answers = new Set<string>()
  for (let call = 0; call < CALLS; call++) answers.add(await (await ask(BODY)).text())
  t.same([...answers], [ANSWER])
  const figures = heapFigures(before, await heap.read(relay.pid), CALLS)
  t.ok((figures['heap_bytes'] ?? 0) > 0 && (figures['gc_us'] ?? -1) >= 0, JSON.stringify(figures))
  await t.rejects(ask('{}'), 'what the provider does not answer ends the connection')
}

t.test('a process that does not report has no figures', async (t) => {
  const heap = await openHeapWatch()
  t.teardown(() => heap.close())
  t.equal(await heap.read(1), null)
  t.same(heapFigures(null, null, 1), {})
})
