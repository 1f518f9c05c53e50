/** What a client sends while a call that costs money waits for its answer. */
import t from 'tap'
import { openEmbeddings } from '../../support/embeddings/embeddings-front.ts'
import { answers } from '../../support/embeddings/provider-behaviours.ts'
import { AUTHORIZATION } from '../../support/front.ts'
import { rawClient, requestText } from '../../support/wire/raw-http.ts'

const BODY = JSON.stringify({ model: 'acme/one', input: 'x' })
const REQUEST = requestText(
  'POST /api/v1/embeddings',
  { authorization: AUTHORIZATION, 'content-length': String(BODY.length) },
  BODY,
)
const HALF = REQUEST.length / 2
/** Turns of the loop in which a front would have read what came. */
const TURNS = 50
const turn = (): Promise<void> => new Promise(setImmediate)

const EARLY: Readonly<Record<string, readonly [first: string, later: string]>> = {
  'a whole request': [REQUEST, ''],
  'a half request': [REQUEST.slice(0, HALF), REQUEST.slice(HALF)],
  'a head without its body': [REQUEST.slice(0, -BODY.length), BODY],
}

for (const [name, [early, later]] of Object.entries(EARLY)) {
  t.test(`${name} after a paid call waits for the answer to that call, and then gets its own`, async (t) => {
    const { port, first, settled, untilSettled } = await openEmbeddings(t)
    let answerNow: () => void = () => undefined
    first.script((exchange) => void (answerNow = () => answers()(exchange)))
    const client = rawClient(port)
    t.teardown(() => client.destroy())
    client.send(REQUEST)
    await first.arrived(1)
    client.send(early)
    for (let turns = 0; turns < TURNS; turns++) await turn()
    t.equal(client.isClosed, false)
    first.script(answers())
    answerNow()
    await client.until(/"usage"/)
    client.send(later)
    t.match(await client.until(/"usage"/, 2), /^HTTP\/1.1 200[\s\S]+HTTP\/1.1 200/)
    await untilSettled(2)
    t.same(
      settled.map(({ status }) => status),
      [200, 200],
    )
  })
}

t.test('bytes after a paid call that are not a request are refused after its answer', async (t) => {
  const { port, first } = await openEmbeddings(t)
  let answerNow: () => void = () => undefined
  first.script((exchange) => void (answerNow = () => answers()(exchange)))
  const client = rawClient(port)
  client.send(REQUEST)
  await first.arrived(1)
  client.send('\0\r\n\r\n'.repeat(100))
  for (let turns = 0; turns < TURNS; turns++) await turn()
  t.equal(client.isClosed, false)
  answerNow()
  t.match(await client.closed(), /^HTTP\/1.1 200[\s\S]+"embedding"/)
})

t.test('a request in the packet of a paid call closes the connection before any payment', async (t) => {
  const { port, first, settled, untilSettled } = await openEmbeddings(t)
  const client = rawClient(port)
  client.send(REQUEST + REQUEST)
  t.equal(await client.closed(), '')
  await untilSettled(1)
  t.equal(settled.length, 1)
  t.equal(first.calls.length, 0)
})
