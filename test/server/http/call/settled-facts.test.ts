import t from 'tap'
import { fail } from '../../../../src/schemas/failures.ts'
import type { Call } from '../../../../src/server/operations/define.ts'
import { AUTHORIZATION, openFront, operation } from '../../../support/front.ts'
import { rawClient, requestText } from '../../../support/wire/raw-http.ts'

const MIB = 1024 * 1024
const body = '{"model":"m","input":"x"}'
const ask = (url: string, authorization = AUTHORIZATION): Promise<Response> =>
  fetch(`${url}/api/v1/echo`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body,
  })

t.test('a call without a valid key has no organization, workspace or key', async (t) => {
  const { url, settled, untilSettled } = await openFront(t, [operation()])
  await ask(url, 'Bearer nobody')
  await untilSettled(1)
  t.match(settled, [
    { failure: 'key_unknown', organizationId: null, workspaceId: null, keyHash: null, limits: null },
  ])
})

t.test('a call refused by a limit records the scope and interval of the limit', async (t) => {
  const metadata = { scope: 'workspace', interval: 'monthly', limit: 1 }
  const run = () => fail('budget_exceeded', { metadata })
  const { url, settled, untilSettled } = await openFront(t, [operation({ run, statuses: [402] })])
  await ask(url)
  await untilSettled(1)
  t.match(settled, [{ failure: 'budget_exceeded', limit: 'workspace monthly', organizationId: 'o' }])
})

t.test('a call records the bytes of both bodies, also of a stream', async (t) => {
  const text = 'data: {}\n\n'
  const run = (call: Call) => {
    const events = call.events({ headers: {}, silence: () => Buffer.from(':\n\n') })
    events.write(Buffer.from(text))
    events.end()
    return { ok: true, value: { kind: 'streamed' } } as const
  }
  const { url, settled, untilSettled } = await openFront(t, [
    operation(),
    operation({ id: 'test.stream', path: '/stream', run }),
  ])
  const whole = await (await ask(url)).text()
  const streamed = await fetch(`${url}/api/v1/stream`, {
    method: 'POST',
    headers: { authorization: AUTHORIZATION, 'content-type': 'application/json' },
    body,
  })
  t.equal(await streamed.text(), text)
  await untilSettled(2)
  t.match(settled, [
    { requestBytes: body.length, replyBytes: whole.length, limit: null },
    { requestBytes: body.length, replyBytes: text.length },
  ])
})

t.test('an answer without a body counts no bytes', async (t) => {
  const { url, settled, untilSettled } = await openFront(t, [])
  const page = await fetch(`${url}/openapi.json`)
  const text = await page.text()
  await fetch(`${url}/openapi.json`, { method: 'HEAD' })
  const known = await fetch(`${url}/openapi.json`, {
    headers: { 'if-none-match': page.headers.get('etag') ?? '' },
  })
  t.equal(known.status, 304)
  await untilSettled(3)
  const [whole = 0, ...bodiless] = settled.map(({ replyBytes }) => replyBytes)
  t.ok(whole !== null && whole > 0 && whole <= text.length)
  t.same(bodiless, [0, 0])
})

t.test('counts the written bytes of an answer whose client disconnects before its end', async (t) => {
  const parts = [Buffer.alloc(32 * MIB, 'a'), Buffer.alloc(32 * MIB, 'b')]
  const run = () => ({ ok: true, value: { kind: 'bytes', parts, contentType: 'text/plain' } }) as const
  const { port, settled, untilSettled } = await openFront(t, [operation({ run })])
  const client = rawClient(port)
  client.send(
    requestText(
      'POST /api/v1/echo',
      { authorization: AUTHORIZATION, 'content-length': String(body.length) },
      body,
    ),
  )
  const came = (await client.untilBody(MIB)).split('\r\n\r\n')[1]?.length ?? 0
  client.destroy()
  await untilSettled(1)
  const [{ replyBytes } = { replyBytes: null }] = settled
  t.ok(replyBytes !== null && replyBytes >= came && replyBytes < 64 * MIB, `${replyBytes} of ${came}`)
})
