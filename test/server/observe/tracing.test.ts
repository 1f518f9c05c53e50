import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { settledCall } from '../../support/requests/settled-call.ts'
import { openTracing } from '../../../src/server/observe/tracing.ts'
import { until } from '../../support/wait.ts'

t.test(
  "a call becomes a child span of the caller's own span, with the known trace keys as attributes",
  async (t) => {
    const { endpoint, received } = await receiver(t)
    const tracer = await openTracing({ endpoint, version: '1.2.3' })
    const trace = { trace_id: 'abc', span_name: 'step', other: 'canary' }
    tracer.remember(CALL.notes, trace)
    tracer.settled({ ...CALL, traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' })
    await tracer.close()
    await came(received, 1)
    const text = received.join('')
    t.match(text, '"traceId":"0af7651916cd43dd8448eb211c80319c"')
    t.match(text, '"parentSpanId":"b7ad6b7169203331"')
    t.match(text, '"name":"embeddings.create"')
    t.match(text, '{"key":"trace.trace_id","value":{"stringValue":"abc"}}')
    t.match(text, '{"key":"session.id","value":{"stringValue":"s-1"}}')
    t.match(text, '{"key":"sluice.request_id","value":{"stringValue":"r-1"}}')
    t.notMatch(text, 'canary', 'unknown keys are no attributes')
  },
)

t.test(
  'calls with the same request id, which the caller may choose, keep their own trace objects',
  async (t) => {
    const { endpoint, received } = await receiver(t)
    const tracer = await openTracing({ endpoint, version: '1' })
    const [one, other] = [
      { ...CALL, notes: { model: 'one' } },
      { ...CALL, notes: { model: 'other' } },
    ]
    tracer.remember(one.notes, { trace_id: 'of-one' })
    tracer.remember(other.notes, { trace_id: 'of-other' })
    tracer.settled(one)
    tracer.settled(other)
    await tracer.close()
    await came(received, 2)
    const spans = received.join('').split('"name":"embeddings.create"').slice(1)
    t.same(
      spans.map((span) => /"(?:one|other)"/.exec(span)?.[0]),
      ['"one"', '"other"'],
    )
    t.same(
      spans.map((span) => /of-(?:one|other)/.exec(span)?.[0]),
      ['of-one', 'of-other'],
    )
  },
)

t.test('ignores an invalid trace context', async (t) => {
  const { endpoint, received } = await receiver(t)
  const tracer = await openTracing({ endpoint: `${endpoint}/v1/traces`, version: '1' })
  for (const traceparent of ['', 'x', '00-zz', `00-${'0'.repeat(31)}-b7ad6b7169203331-01`])
    tracer.settled({ ...CALL, traceparent })
  await tracer.close()
  await came(received, 4)
  t.notMatch(received.join(''), 'b7ad6b7169203331')
})

t.test('a receiver that cannot be reached causes no failure', async (t) => {
  const tracer = await openTracing({ endpoint: 'http://127.0.0.1:9', version: '1' })
  tracer.settled(CALL)
  await tracer.close()
  t.pass('closed')
})

/** Until so many spans have come, and no other: a process that ends waits for them 2 s at most. */
async function came(received: readonly string[], count: number): Promise<void> {
  const spans = (): number => received.join('').match(/"name":"embeddings.create"/g)?.length ?? 0
  await until('the spans have come', () => spans() >= count)
  t.equal(spans(), count)
}

const CALL = settledCall({
  durationMs: 5,
  workspaceId: 'w',
  keyHash: 'h',
  notes: { model: 'a/b', sessionId: 's-1' },
})

async function receiver(t: {
  teardown(done: () => void): unknown
}): Promise<{ endpoint: string; received: string[] }> {
  const received: string[] = []
  const server = createServer((request, response) => {
    request.setEncoding('utf8').on('data', (text: string) => void received.push(text))
    request.on('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  return { endpoint: `http://127.0.0.1:${port}`, received }
}
