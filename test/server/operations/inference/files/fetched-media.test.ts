/** Media that calls name by addresses, at providers whose form takes no addresses of them. */
import { once } from 'node:events'
import type { RequestListener } from 'node:http'
import t from 'tap'
import {
  FETCHED_MEDIUM_BYTES_MAX,
  FETCHED_MEDIUM_MS,
} from '../../../../../src/schemas/inference/inference-limits.ts'
import { MIB } from '../../../../../src/schemas/limits/limits.ts'
import { FIRST_OUTPUT_MS_DEFAULT } from '../../../../../src/schemas/models/provider-limits.ts'
import type { CallCost } from '../../../../../src/server/ports/money/money.ts'
import { png } from '../../../../support/corpus/images.ts'
import { startTarget, type Target } from '../../../../support/egress/vetted-stand.ts'
import { AUTHORIZATION } from '../../../../support/front.ts'
import {
  openChatProvider,
  type ChatProviderFront,
  type ChatProviderOptions,
} from '../../../../support/inference/chat-provider-front.ts'
import { PROMPT_TOKENS } from '../../../../support/inference/fake-chat.ts'
import {
  answersGemini,
  refusesGemini,
  strictGemini,
} from '../../../../support/inference/gemini/fake-gemini.ts'
import { keptSpend } from '../../../../support/money/free-spend.ts'
import { present } from '../../../../support/must.ts'
import { FETCHED_MEDIA_MAX } from '../../../../../src/server/upstream/inference/inline/call-media.ts'

t.setTimeout(600_000)

const PDF = Buffer.from('%PDF-1.7\nwith some words')
const WAV = Buffer.from('RIFF\x10\0\0\0WAVEfmt and so on', 'latin1')
const MP3 = Buffer.from('fffb9064000000000000000000000000', 'hex')

interface Rig extends ChatProviderFront {
  readonly host: Target
  /** Requests that the host got. */
  readonly asked: readonly string[]
  readonly spend: ReturnType<typeof keptSpend>
  serve(listener: RequestListener): void
  at(path: string): string
}

const GEMINI: ChatProviderOptions = {
  providers: { protocol: 'google' },
  firstFacts: { speaks: ['gemini'] },
  secondFacts: { speaks: ['gemini'] },
}

async function rigged(test: Parameters<typeof openChatProvider>[0], more = GEMINI): Promise<Rig> {
  const host = await startTarget()
  test.teardown(() => host.close())
  const spend = keptSpend()
  const egress = { allow: [`http:127.0.0.1:${host.port}`], resolve: () => Promise.resolve(['127.0.0.1']) }
  const front = await openChatProvider(test, { egress, spend, ...more })
  if (more === GEMINI) for (const provider of [front.first, front.second]) provider.usually(strictGemini())
  const asked: string[] = []
  return {
    ...front,
    ...{ host, asked, spend },
    serve: (listener) =>
      host.answer((req, res) => {
        asked.push(req.url ?? '')
        listener(req, res)
      }),
    at: (path) => `https://media.example:${host.port}/${path}`,
  }
}

const bytes =
  (content: Buffer, status = 200): RequestListener =>
  (_, res) =>
    void res.writeHead(status, { 'content-type': 'text/html' }).end(content)
const image = (url: string): object => ({ type: 'image_url', image_url: { url } })
const file = (url: string): object => ({ type: 'file', file: { file_data: url } })
const asked = (...content: readonly object[]): object => ({
  model: 'acme/chat',
  messages: [{ role: 'user', content }],
})

t.test('a medium is fetched and sent with the type detected from its bytes', async (t) => {
  const { post, first, serve, at, asked: got, rest } = await rigged(t)
  const contents: Readonly<Record<string, Buffer>> = { '/p?a=b': png(), '/d': PDF, '/w': WAV, '/m': MP3 }
  serve((req, res) => bytes(contents[req.url ?? ''] ?? Buffer.alloc(0))(req, res))
  for (const stream of [false, true]) {
    const parts = [image(at('p?a=b')), file(at('d')), file(at('w')), file(at('m')), file(at('p?a=b'))]
    const response = await post({ ...asked(...parts), stream })
    t.equal(response.status, 200, (await response.text()).slice(0, 300))
    const { body, headers } = present(first.calls.at(-1))
    const part = (mimeType: string, content: Buffer): object => ({
      inlineData: { mimeType, data: content.toString('base64') },
    })
    t.match(JSON.parse(body.toString()), {
      contents: [
        {
          parts: [
            ...[part('image/png', png()), part('application/pdf', PDF), part('audio/wav', WAV)],
            ...[part('audio/mpeg', MP3), part('image/png', png())],
          ],
        },
      ],
    })
    t.equal(headers['content-length'], String(body.length))
  }
  t.equal(got.length, 8, 'each address once a call')
  t.equal(await rest(), 0)
})

t.test('the next endpoint gets the same bytes without a second fetch', async (t) => {
  const { post, first, second, serve, at, asked: got, rest } = await rigged(t)
  const large = Buffer.concat([png(), Buffer.alloc(FETCHED_MEDIUM_BYTES_MAX - png().length, 7)])
  serve(bytes(large))
  // A strict one looks at each letter by a pattern, which so many exceed.
  second.usually(answersGemini())
  first.script(refusesGemini(503))
  const response = await post(asked(image(at('p'))))
  t.equal(response.headers.get('x-sluice-provider'), 'second')
  t.ok(present(first.calls[0]).body.equals(present(second.calls[0]).body))
  t.equal(got.length, 1)
  t.equal(await rest(), 0)
})

t.test('a token count includes the fetched medium', async (t) => {
  const { url, first, serve, at, rest } = await rigged(t)
  serve(bytes(png()))
  const source = { type: 'url', url: at('p') }
  const counted = await fetch(`${url}/api/v1/messages/count_tokens`, {
    method: 'POST',
    headers: { authorization: AUTHORIZATION, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'acme/chat',
      messages: [{ role: 'user', content: [{ type: 'image', source }] }],
    }),
  })
  t.same(await counted.json(), { input_tokens: PROMPT_TOKENS })
  t.ok(present(first.calls[0]).body.includes(png().toString('base64')))
  t.equal(await rest(), 0)
})

t.test('an unavailable medium gets 400 with its path, is free, and blames no provider', async (t) => {
  const rig = await rigged(t)
  const { post, serve, at, host } = rig
  serve((req, res) => {
    const larger = Buffer.alloc(FETCHED_MEDIUM_BYTES_MAX + 1, 7)
    if (req.url === '/gone') return bytes(png(), 404)(req, res)
    if (req.url === '/text') return bytes(Buffer.from('<html>'))(req, res)
    if (req.url === '/empty') return bytes(Buffer.alloc(0))(req, res)
    if (req.url === '/large') return bytes(larger)(req, res)
    if (req.url === '/chunks') return void (res.write(larger), res.end())
    if (req.url === '/away') return void res.writeHead(302, { location: 'https://127.0.0.1/' }).end()
    if (req.url === '/cut') return void (res.writeHead(200, { 'content-length': 99 }), res.destroy())
    bytes(PDF)(req, res)
  })
  const [unavailable, unsupported] = ['media_unavailable', 'input_unsupported']
  const cases: readonly (readonly [string, string, object])[] = [
    ['404', unavailable, image(at('gone'))],
    ['a redirect to another host', unavailable, image(at('away'))],
    ['a body that breaks off', unavailable, image(at('cut'))],
    ['plain HTTP', unavailable, image(at('p').replace('https', 'http'))],
    ['an address that is not public', unavailable, image(`https://127.0.0.2:${host.port}/`)],
    ['a credential', unavailable, image(at('p').replace('//', '//a:b@'))],
    ['a page', unsupported, file(at('text'))],
    ['nothing', unsupported, file(at('empty'))],
    ['a larger file', unsupported, file(at('large'))],
    ['a larger file without a length', unsupported, file(at('chunks'))],
    ['a PDF in place of a picture', unsupported, image(at('pdf'))],
  ]
  for (const [what, type, part] of cases) {
    const response = await post(asked({ type: 'text', text: 'x' }, part))
    t.equal(response.status, 400, what)
    const reported = await response.text()
    t.match(
      JSON.parse(reported),
      { error: { metadata: { error_type: type }, param: 'messages[0].content[1]' } },
      what,
    )
    t.notMatch(reported, /media\.example|127\.0/, what)
  }
  t.equal(rig.first.calls.length + rig.second.calls.length, 0)
  t.ok(rig.spend.holds.every(({ end }) => end === 'released'))
  t.same(rig.breakers(), [])
  t.equal(await rig.rest(), 0)
})

t.test('a picture address that Google may read as a video has the maximum cost of a video', async (t) => {
  const { post, first, spend } = await rigged(t)
  const longer = ['https://youtu.be/x', `data:video/mp4;base64,${png().toString('base64')}`]
  for (const part of [image('data:image/png;base64,AAAA'), ...longer.map(image), file(longer[0] ?? '')])
    t.equal((await post({ ...asked(part), max_tokens: 9 })).status, 200)
  t.equal(first.calls.length, 4)
  const [picture = 0, ...others] = spend.holds.map(({ ask }) => ask.bound.anyNano ?? Infinity)
  for (const one of others) t.ok(one > picture, `${one} is more than ${picture}`)
})

t.test('the time to fetch media does not count as latency of the endpoint', async (t) => {
  let behindMs = FIRST_OUTPUT_MS_DEFAULT + 1
  const clock = { ...GEMINI, now: () => performance.now() - behindMs }
  const { post, first, serve, at, breakers, spend } = await rigged(t, clock)
  first.usually(strictGemini())
  serve((req, res) => {
    behindMs = 0
    bytes(png())(req, res)
  })
  const response = await post({ ...asked(image(at('p'))), stream: true })
  t.equal(response.headers.get('x-sluice-provider'), 'first', 'its time was not over')
  await response.text()
  t.same(breakers(), [])
  const [hold] = spend.holds
  const { milliseconds = Infinity } = hold?.end as CallCost
  t.ok(milliseconds < FIRST_OUTPUT_MS_DEFAULT, `${milliseconds} ms are its own`)
})

t.test('an error message in which a provider quotes a medium is not returned', async (t) => {
  const { post, first, second, serve, at, rest } = await rigged(t)
  const words = 'The harvest of the northern field was poor.'
  serve(bytes(Buffer.concat([PDF, Buffer.from(words)])))
  for (const stream of [false, true]) {
    for (const provider of [first, second]) provider.script(refusesGemini(400, { message: `No: ${words}` }))
    const response = await post({ ...asked(file(at('d'))), stream })
    t.equal(response.status, 400)
    t.notMatch(await response.text(), /harvest/)
  }
  t.equal(await rest(), 0)
})

t.test('too many media, or media that are too large together, are refused', async (t) => {
  const { post, serve, at, first, asked: got, rest } = await rigged(t)
  serve(bytes(Buffer.concat([png(), Buffer.alloc(13 * MIB, 7)])))
  const many = Array.from({ length: FETCHED_MEDIA_MAX + 1 }, (_, nth) => image(at(String(nth))))
  const refused = await post(asked(...many))
  t.equal(refused.status, 400)
  t.match(await refused.json(), { error: { param: `messages[0].content[${FETCHED_MEDIA_MAX}]` } })
  t.equal(got.length, 0)
  t.equal((await post(asked(image(at('a')), image(at('b'))))).status, 413)
  t.equal(first.calls.length, 0)
  t.equal(await rest(), 0)
})

t.test('an endpoint that accepts addresses answers when the media cannot be sent inline', async (t) => {
  const chat = { ...GEMINI, secondFacts: { speaks: ['chat'] } }
  const { post, first, second, serve, at, rest } = await rigged(t, chat)
  serve(bytes(Buffer.concat([png(), Buffer.alloc(13 * MIB, 7)])))
  const many = Array.from({ length: FETCHED_MEDIA_MAX + 1 }, (_, nth) => image(at(String(nth))))
  for (const parts of [many, [image(at('a')), image(at('b'))]]) {
    const response = await post(asked(...parts))
    t.equal(response.headers.get('x-sluice-provider'), 'second', await response.text())
    t.same(JSON.parse(present(second.calls.at(-1)).body.toString()), {
      ...asked(...parts),
      model: 'second-model',
    })
  }
  t.equal(first.calls.length, 0)
  t.equal(await rest(), 0)
})

t.test('passes addresses to providers that accept them, and addresses of videos to Google', async (t) => {
  const { post, first, asked: got } = await rigged(t)
  const film = 'https://www.youtube.com/watch?v=x'
  await post(asked(file(film)))
  t.match(present(first.calls[0]).body.toString(), '"fileUri":"https://www.youtube.com/watch?v=x"')
  for (const speaks of ['responses', 'messages', 'chat']) {
    const other = await rigged(t, { firstFacts: { speaks: [speaks] }, secondFacts: { speaks: [speaks] } })
    await other.post(asked(image(other.at('p'))))
    t.ok(present(other.first.calls[0]).body.includes(other.at('p')), speaks)
    t.same(other.asked, [])
  }
  t.same(got, [])
})

t.test('a strict chat provider gets the content of a document instead of its address', async (t) => {
  const facts = { speaks: ['chat'] }
  const strict = { providers: { strict: true }, firstFacts: facts, secondFacts: facts }
  const { url, first, serve, at } = await rigged(t, strict)
  serve(bytes(PDF))
  const source = { type: 'url', url: at('folder/a.pdf') }
  const response = await fetch(`${url}/api/v1/messages`, {
    method: 'POST',
    headers: { authorization: AUTHORIZATION, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'acme/chat',
      max_tokens: 9,
      messages: [{ role: 'user', content: [{ type: 'document', source }] }],
    }),
  })
  t.equal(response.status, 200, await response.text())
  const file_data = `data:application/pdf;base64,${PDF.toString('base64')}`
  t.match(JSON.parse(present(first.calls[0]).body.toString()), {
    messages: [{ content: [{ type: 'file', file: { filename: 'a.pdf', file_data } }] }],
  })
})

t.test('a disconnect of the caller ends the fetch', async (t) => {
  const { post, serve, at, rest } = await rigged(t)
  const leaving = new AbortController()
  const begun = new Promise<{ readonly closed: Promise<unknown> }>((resolve) =>
    serve((_, res) => {
      res.write(png())
      resolve({ closed: once(res, 'close') })
    }),
  )
  const response = post({ ...asked(image(at('p'))), stream: true }, {}, leaving.signal).catch(() => null)
  const { closed } = await begun
  const leftAt = performance.now()
  leaving.abort()
  await Promise.all([response, closed])
  t.ok(performance.now() - leftAt < FETCHED_MEDIUM_MS, 'before its time is over')
  t.equal(await rest(), 0)
})
