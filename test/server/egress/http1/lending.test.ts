/** Responses whose bytes lie where the socket wrote them, for one turn of the loop. */
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { text as textOf } from 'node:stream/consumers'
import t from 'tap'
import { owned } from '../../../../src/schemas/values/lent-bytes.ts'
import type { EgressRequest } from '../../../../src/server/ports/egress/egress.ts'
import { scanMemory } from '../../../../src/workers/scan-memory.ts'
import { rigged } from '../../../support/egress/egress-rig.ts'
import { openEmbeddings } from '../../../support/embeddings/embeddings-front.ts'
import {
  answers,
  refuses,
  sends,
  vectorOf,
  type Behaviour,
} from '../../../support/embeddings/provider-behaviours.ts'
import { AUTHORIZATION } from '../../../support/front.ts'
import { must } from '../../../support/must.ts'
import { UPSTREAM_READ_BYTES_MAX } from '../../../../src/server/egress/connect.ts'

const TEXT = 'x'.repeat(20_000)

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

t.test('a body that arrived in one read is lent, and overwritten in the next turn', async (t) => {
  const { call, provider } = await rigged(t)
  provider.usually(sends(TEXT))
  const { body, release } = must(await call({ mayLend: true }))
  const copy = owned(body)
  t.equal(Buffer.from(body).toString(), TEXT)
  t.equal(body.buffer, scanMemory().buffer)
  await turn()
  t.equal(Buffer.from(body).toString(), '!'.repeat(TEXT.length))
  t.equal(Buffer.from(copy).toString(), TEXT)
  t.equal(owned(copy), copy)
  release()
})

for (const [what, behaviour, more] of [
  ['without leave', sends(TEXT), { mayLend: false }],
  ['of unknown length', ({ res }) => void res.writeHead(200).end(TEXT), {}],
  ['in several reads', sends(TEXT.repeat(4)), {}],
  ['in another encoding', answers({ contentEncoding: 'gzip', dimensions: 3_000 }), {}],
  ['of an error', refuses(429), {}],
] as readonly (readonly [string, Behaviour, Partial<EgressRequest>])[]) {
  t.test(`a body ${what} has its own memory`, async (t) => {
    const { call, provider } = await rigged(t)
    provider.usually(behaviour)
    const { body, release } = must(await call({ mayLend: true, ...more }))
    const text = Buffer.from(body).toString()
    await turn()
    t.notMatch(text, /^!/)
    t.ok(Buffer.from(body).toString() === text)
    release()
  })
}

t.test('a reply that is written in a later turn contains the unchanged bytes of its provider', async (t) => {
  const { url, first } = await openEmbeddings(t)
  const dimensions = 2_000
  first.usually(answers({ dimensions }))
  // The reply to a body without a length is the last one of its connection, and leaves a turn later.
  const sent = httpRequest(`${url}/api/v1/embeddings`, {
    method: 'POST',
    headers: {
      authorization: AUTHORIZATION,
      'content-type': 'application/json',
      'transfer-encoding': 'chunked',
    },
  })
  const answered = new Promise<IncomingMessage>((resolve) => sent.once('response', resolve))
  sent.end(JSON.stringify({ model: 'acme/one', input: 'one' }))
  const reply = JSON.parse(await textOf(await answered)) as { data: { embedding: number[] }[] }
  t.same(reply.data[0]?.embedding, vectorOf('one', dimensions))
})

t.test('an answer of at least one full socket read is received whole', async (t) => {
  const { call, provider } = await rigged(t)
  for (const bytes of [
    UPSTREAM_READ_BYTES_MAX - 1_000,
    UPSTREAM_READ_BYTES_MAX,
    3 * UPSTREAM_READ_BYTES_MAX,
  ]) {
    provider.script(sends('y'.repeat(bytes)))
    const { body, release } = must(await call({ mayLend: true }))
    t.ok(Buffer.from(body).toString() === 'y'.repeat(bytes))
    release()
  }
})
