/** Embeddings answers that one organization does not read leave room for those of another. */
import t, { type Test } from 'tap'
import { accessTo, AUTHORIZATION, keyRecords, OTHER_KEY } from '../../../support/front.ts'
import { openEmbeddings } from '../../../support/embeddings/embeddings-front.ts'
import { sends } from '../../../support/embeddings/provider-behaviours.ts'
import { rawClient, requestText, type RawClient } from '../../../support/wire/raw-http.ts'

const MIB = 1024 * 1024
/** More than the buffers of two sockets take. */
const NUMBERS = '0.125,'.repeat(4 * MIB)
const LARGE = `{"object":"list","data":[{"object":"embedding","index":0,"embedding":[${NUMBERS}0]}],"usage":{"prompt_tokens":1,"total_tokens":1}}`

/** The key OTHER_KEY is another organization's. */
function tenants() {
  const records = [...keyRecords()].map(([hash, record], nth) => {
    return [
      hash,
      nth === 1
        ? { ...record, organizationId: 'other', workspaceId: 'other', defaultWorkspaceId: 'other' }
        : record,
    ] as const
  })
  return accessTo(new Map(records))
}

function asker(t: Test, port: number): RawClient {
  const client = rawClient(port)
  t.teardown(() => client.destroy())
  const body = JSON.stringify({ model: 'acme/one', input: 'x' })
  const headers = {
    authorization: AUTHORIZATION,
    'content-type': 'application/json',
    'content-length': String(body.length),
  }
  client.send(requestText('POST /api/v1/embeddings', headers) + body)
  return client
}

t.test('unread answers of one organization leave room for the answers of another one', async (t) => {
  const { first, port, post, egress, rest, untilSettled } = await openEmbeddings(t, {
    answersBytesMax: 6 * LARGE.length,
    access: tenants(),
    timeoutMs: 60_000,
  })
  first.usually(sends(LARGE))
  const floods = Array.from({ length: 5 }, () => asker(t, port))
  let begun = 0
  await new Promise<void>((resolve) => {
    for (const { socket } of floods) {
      socket.once('data', () => {
        socket.pause()
        if (++begun === 2) resolve()
      })
    }
  })
  await first.arrived(5)
  const reply = await post({ model: 'acme/one', input: 'x' }, { authorization: `Bearer ${OTHER_KEY}` })
  t.equal(reply.status, 200)
  t.ok(egress.load.heldBytes < 3 * LARGE.length)
  for (const flood of floods) flood.destroy()
  await untilSettled(6)
  t.same(
    await rest(),
    { heldBytes: 0, calls: 0 },
    'those that wait for the share go on once it is given back',
  )
})
