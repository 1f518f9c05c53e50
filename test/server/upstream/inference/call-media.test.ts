/** Media that a call names by addresses: how many are fetched at once, for how long, and what they are. */
import type { ServerResponse } from 'node:http'
import t from 'tap'
import { fail, ok } from '../../../../src/schemas/failures.ts'
import { VETTED_ANSWERS_BYTES_MAX } from '../../../../src/schemas/egress/egress-limits.ts'
import { FETCHED_MEDIUM_MS } from '../../../../src/schemas/inference/inference-limits.ts'
import type { EgressExchangeRequest } from '../../../../src/server/ports/egress/egress.ts'
import {
  FETCHED_AT_ONCE_MAX,
  CallMedia,
  type MediaEgress,
  mediumTypeOf,
} from '../../../../src/server/upstream/inference/inline/call-media.ts'
import { pdf } from '../../../support/corpus/binaries.ts'
import { frames, id3 } from '../../../support/corpus/audio.ts'
import { gif, jpeg, png } from '../../../support/corpus/images.ts'
import { rigged } from '../../../support/egress/vetted-stand.ts'
import { atPace } from '../../../support/load/pace.ts'
import { must } from '../../../support/must.ts'
import { until } from '../../../support/wait.ts'

const wanted = (url: string): { url: string; path: string; isImage: boolean } => ({
  ...{ url, path: '/messages/0/content/0' },
  isImage: false,
})

const mediaOf = (egress: MediaEgress, deadlineAt: number): CallMedia =>
  new CallMedia(egress, {
    caller: { organizationId: 'o', workspaceId: 'w', key: 'k' },
    deadlineAt,
    call: { signal: new AbortController().signal },
  })

t.test('a few media of a call are fetched at once, and each address once', async (t) => {
  const { target, egress, rest } = await rigged(t)
  const open: ServerResponse[] = []
  let most = 0
  target.answer((_, res) => {
    open.push(res)
    most = Math.max(most, open.length)
  })
  const media = mediaOf(egress, Infinity)
  const count = 2 * FETCHED_AT_ONCE_MAX
  const urls = Array.from({ length: count }, (_, nth) => wanted(`https://good.example:${target.port}/${nth}`))
  const loading = media.load(urls)
  await until('as many as may be are asked for', () => open.length === FETCHED_AT_ONCE_MAX)
  for (let nth = 0; nth < count; nth++) {
    await until('one is open', () => open.length > 0)
    open.shift()?.end(png())
  }
  t.same(
    must(await loading).map(({ url, sizeBytes }) => [url, sizeBytes]),
    urls.map(({ url }) => [url, png().length]),
  )
  t.equal(most, FETCHED_AT_ONCE_MAX)
  t.equal(must(await media.load(urls)).length, count)
  t.equal(open.length, 0, 'nothing is asked for again')
  t.equal(egress.load.heldBytes, count * png().length)
  media.release()
  await rest()
  t.equal(egress.load.heldBytes, 0)
})

t.test('a host must begin to answer within FETCHED_MEDIUM_MS and the deadline of the call', async (t) => {
  const asked: EgressExchangeRequest[] = []
  const exchange = (request: EgressExchangeRequest): Promise<ReturnType<typeof fail>> => {
    asked.push(request)
    return Promise.resolve(fail('upstream_slow'))
  }
  const egress = { vetted: () => ok({ exchange }) } as unknown as MediaEgress
  const before = performance.now()
  t.match(await mediaOf(egress, Infinity).load([wanted('https://x.example/')]), {
    failure: { name: 'media_unavailable', metadata: { issues: [{ path: '/messages/0/content/0' }] } },
  })
  const endsAt = asked[0]?.beginsBy() ?? 0
  t.ok(endsAt >= before + FETCHED_MEDIUM_MS && endsAt <= performance.now() + FETCHED_MEDIUM_MS)
  await mediaOf(egress, before + 1).load([wanted('https://x.example/')])
  t.equal(asked[1]?.beginsBy(), before + 1)
})

t.test('a body that does not end in time is given up, and holds nothing', async (t) => {
  const { target, egress, rest } = await rigged(t)
  target.answer((_, res) => void res.write(png()))
  const media = mediaOf(egress, performance.now() + 300)
  t.match(await media.load([wanted(`https://good.example:${target.port}/`)]), {
    failure: { name: 'media_unavailable' },
  })
  media.release()
  await rest()
  t.equal(egress.load.heldBytes, 0)
})

t.test('media that were fetched but refused hold no memory while the call continues', async (t) => {
  const { target, egress, rest } = await rigged(t)
  target.answer((_, res) => void res.end('<html>'))
  const media = mediaOf(egress, Infinity)
  const address = `https://good.example:${target.port}/`
  t.match(await media.load([wanted(address)]), { failure: { name: 'input_unsupported' } })
  await rest()
  t.equal(egress.load.heldBytes, 0)
  media.release()
})

t.test('the first failure ends the other fetches, and the next endpoint may repeat them', async (t) => {
  const { target, egress, rest } = await rigged(t)
  const open: ServerResponse[] = []
  let isServed = false
  target.answer((req, res) => {
    if (req.url === '/gone') res.writeHead(404).end()
    else if (isServed) res.end(png())
    else open.push(res.on('close', () => (isServed = true)))
  })
  const media = mediaOf(egress, Infinity)
  const [slow, gone] = [
    wanted(`https://good.example:${target.port}/slow`),
    wanted(`https://good.example:${target.port}/gone`),
  ]
  const beganAt = performance.now()
  t.match(await media.load([slow, gone]), { failure: { name: 'media_unavailable' } })
  t.ok(performance.now() - beganAt < FETCHED_MEDIUM_MS, 'before its time is over')
  await until('it has heard of it', () => isServed)
  t.equal(open.length, 1)
  t.equal(must(await media.load([slow])).length, 1)
  media.release()
  await rest()
  t.equal(egress.load.heldBytes, 0)
})

t.test('the first failure ends the wait for memory of another fetch', async (t) => {
  const { target, egress, rest } = await rigged(t)
  const gone: ServerResponse[] = []
  let isSent = false
  target.answer((req, res) => {
    if (req.url === '/gone') gone.push(res)
    else res.end(png(), () => (isSent = true))
  })
  const others = egress.room({ organizationId: 'p', workspaceId: 'x', key: 'l' }, true)
  t.ok(others.grow(VETTED_ANSWERS_BYTES_MAX))
  const media = mediaOf(egress, Infinity)
  const at = (path: string) => wanted(`https://good.example:${target.port}/${path}`)
  const beganAt = performance.now()
  const loading = media.load([at('waits'), at('gone')])
  await until('one waits, and the other is asked for', () => isSent && gone.length === 1)
  gone[0]?.writeHead(404).end()
  t.match(await loading, { failure: { name: 'media_unavailable' } })
  t.ok(performance.now() - beganAt < FETCHED_MEDIUM_MS, 'before its time is over')
  others.give()
  media.release()
  await rest()
  t.equal(egress.load.heldBytes, 0)
})

t.test('a medium is named after the last path segment of its URL, without the query', async (t) => {
  const { target, egress, rest } = await rigged(t)
  target.answer((_, res) => void res.end(png()))
  const media = mediaOf(egress, Infinity)
  const at = (path: string) => wanted(`https://good.example:${target.port}/${path}`)
  const fetched = must(
    await media.load([at('a/b.png?c=d/e'), at('a%20b.png?key=x/secret'), at('?key=x/secret')]),
  )
  t.same(
    fetched.map(({ filename }) => filename),
    ['b.png', 'file', 'file'],
  )
  media.release()
  await rest()
})

t.test('a front without memory for a medium fails with busy', async (t) => {
  const { target, egress, rest } = await rigged(t)
  target.answer((_, res) => void res.end(png()))
  const others = egress.room({ organizationId: 'p', workspaceId: 'x', key: 'l' }, true)
  t.ok(others.grow(VETTED_ANSWERS_BYTES_MAX))
  const address = `https://good.example:${target.port}/`
  await atPace(300, async (ms) => {
    const media = mediaOf(egress, performance.now() + ms)
    const loaded = await media.load([wanted(address)])
    media.release()
    // Until its bytes arrive, the lack of room is unknown.
    if (!loaded.ok && loaded.failure.name === 'media_unavailable') return false
    t.match(loaded, { failure: { name: 'busy' } })
    return true
  })
  others.give()
  const next = mediaOf(egress, Infinity)
  t.equal(must(await next.load([wanted(address)])).length, 1)
  next.release()
  await rest()
  t.equal(egress.load.heldBytes, 0)
})

t.test('the first bytes determine the type of a medium', (t) => {
  const cases: readonly (readonly [string, Buffer, string | null])[] = [
    ['PNG', png(), 'image/png'],
    ['JPEG', jpeg(), 'image/jpeg'],
    ['GIF', gif(), 'image/gif'],
    ['PDF', pdf(), 'application/pdf'],
    ['PDF after a mark', Buffer.concat([Buffer.from('\uFEFF \n'), pdf()]), 'application/pdf'],
    ['WAV', Buffer.from('RIFF\0\0\0\0WAVEfmt '), 'audio/wav'],
    ['AVI', Buffer.from('RIFF\0\0\0\0AVI LIST'), null],
    ['MP3', frames(1), 'audio/mpeg'],
    ['MP3 with a tag', id3(10), 'audio/mpeg'],
    ['AAC', Buffer.from('fff15080', 'hex'), null],
    ['a page', Buffer.from('<html>'), null],
    ['nothing', Buffer.alloc(0), null],
  ]
  for (const [what, head, type] of cases) t.equal(mediumTypeOf(head), type, what)
  t.end()
})
