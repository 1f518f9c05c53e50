/** Files of the workspace that calls name by their ids: the content that providers get, and the refusals. */
import OpenAI, { toFile } from 'openai'
import t from 'tap'
import { memberPath } from '../../../../../src/schemas/issues.ts'
import { fail, ok, type Outcome } from '../../../../../src/schemas/failures.ts'
import {
  INFERENCE_BODY_BYTES_MAX,
  INLINE_FILE_BYTES_MAX,
  INLINE_FILES_MAX,
} from '../../../../../src/schemas/inference/inference-limits.ts'
import type { Dialect } from '../../../../../src/schemas/inference/text-request.ts'
import type { Content } from '../../../../../src/server/ports/byte-streams.ts'
import type { Transfers } from '../../../../../src/server/ports/files/transfer.ts'
import { png } from '../../../../support/corpus/images.ts'
import { storedFile } from '../../../../support/files/files.ts'
import { KEY } from '../../../../support/front.ts'
import { PROMPT_TOKENS, refusesChat } from '../../../../support/inference/fake-chat.ts'
import { openInlineFiles, type InlineFilesFront } from '../../../../support/inference/inline-files.ts'
import { memoryConfigs, MemoryVersion } from '../../../../support/presets/presets.ts'
import { keptSpend } from '../../../../support/money/free-spend.ts'
import { present } from '../../../../support/must.ts'
import { until } from '../../../../support/wait.ts'
import { load } from '../../../../support/wire/foreign-clients.ts'

t.setTimeout(600_000)

const KIB = 1_024
const base64 = (content: string): string => Buffer.from(content).toString('base64')
/** A text in the form of the dialect: a part with the id of a file, and the part that replaces it. */
const PARTS: Readonly<
  Record<Dialect, { readonly named: (id: string) => object; readonly inline: (text: string) => object }>
> = {
  chat: {
    named: (id) => ({ type: 'file', file: { file_id: id } }),
    inline: (text) => ({
      type: 'file',
      file: { filename: 'a.txt', file_data: `data:text/plain;base64,${base64(text)}` },
    }),
  },
  responses: {
    named: (id) => ({ type: 'input_file', file_id: id }),
    inline: (text) => ({
      type: 'input_file',
      filename: 'a.txt',
      file_data: `data:text/plain;base64,${base64(text)}`,
    }),
  },
  messages: {
    named: (id) => ({ type: 'document', source: { type: 'file', file_id: id } }),
    inline: (data) => ({ type: 'document', source: { type: 'text', media_type: 'text/plain', data } }),
  },
}
const DIALECTS = Object.keys(PARTS) as readonly Dialect[]

/** A call with these parts; `model` comes last, as a splice of the provider's name would show. */
function asked(dialect: Dialect, parts: readonly object[], more: object = {}): object {
  const turn = [{ role: 'user', content: parts }]
  if (dialect === 'responses') return { store: false, input: turn, ...more, model: 'acme/chat' }
  return { max_tokens: 9, messages: turn, ...more, model: 'acme/chat' }
}

const went = (body: object, model = 'first-model'): string => JSON.stringify({ ...body, model })

t.test('the provider gets the content instead of the id, byte for byte, with its length', async (t) => {
  for (const dialect of DIALECTS) {
    const { post, first, store, rest } = await openInlineFiles(t, dialect)
    const { named, inline } = PARTS[dialect]
    const whole = 'é"\\\n\t' + 'x'.repeat(INLINE_FILE_BYTES_MAX - 6)
    const texts = ['y', `ab"\n${'z'.repeat(64 * KIB - 3)}`, ...(dialect === 'chat' ? [whole] : [])]
    for (const text of texts) {
      const file = await store(text, 'folder/a.txt')
      const response = await post(asked(dialect, [named(file.id)], { service_tier: 'auto' }))
      t.equal(response.status, 200, `${dialect} ${text.length}: ${(await response.text()).slice(0, 300)}`)
      const call = present(first.calls.at(-1))
      t.ok(
        call.body.equals(Buffer.from(went(asked(dialect, [inline(text)], { service_tier: 'auto' })))),
        'the same bytes',
      )
      t.equal(call.headers['content-length'], String(call.body.length))
      t.equal(call.headers['transfer-encoding'], undefined)
    }
    t.equal(await rest(), 0)
  }
})

t.test('files are inlined in streams and large bodies, and several in one request', async (t) => {
  const { post, first, store } = await openInlineFiles(t, 'chat')
  const { named, inline } = PARTS.chat
  const picture = await store(png(), 'p.png')
  const [one, other] = [await store('one', 'a.txt'), await store('other', 'a.txt')]
  const long = { type: 'text', text: 'x'.repeat(300 * KIB) }
  const parts = [named(one.id), long, named(picture.id), named(other.id), named(one.id)]
  const response = await post(asked('chat', parts, { stream: true, stream_options: { include_usage: true } }))
  t.equal(response.status, 200)
  t.match(await response.text(), /\[DONE\]/)
  const url = `data:image/png;base64,${png().toString('base64')}`
  const out = [inline('one'), long, { type: 'image_url', image_url: { url } }, inline('other'), inline('one')]
  const wanted = went(asked('chat', out, { stream: true, stream_options: { include_usage: true } }))
  t.equal(present(first.calls[0]).body.toString(), wanted)
})

t.test('files are inlined in a request that a preset was merged into', async (t) => {
  const presets = { one: [new MemoryVersion({ model: 'acme/chat' }, { systemPrompt: 'Be "brief".' })] }
  const presetConfigs: ReturnType<typeof memoryConfigs> = {
    find: (workspaceId, named) => memoryConfigs(presets, workspaceId).find(workspaceId, named),
  }
  for (const dialect of DIALECTS) {
    const { post, first, store } = await openInlineFiles(t, dialect, { presetConfigs })
    const { id } = await store('content', 'a.txt')
    const { named, inline } = PARTS[dialect]
    const response = await post({ ...asked(dialect, [named(id), named(id)]), model: '@preset/one' })
    t.equal(response.status, 200)
    const sent = present(first.calls[0]).body.toString()
    t.match(sent, /Be \\"brief/)
    t.ok(sent.includes(`"content":${JSON.stringify([inline('content'), inline('content')])}`), dialect)
  }
})

t.test('the next endpoint and a token count get the content too', async (t) => {
  const { post, first, second, store } = await openInlineFiles(t, 'chat')
  const { id } = await store('content', 'a.txt')
  first.script(refusesChat(529))
  const response = await post(asked('chat', [PARTS.chat.named(id)]))
  t.equal(response.headers.get('x-sluice-provider'), 'second')
  const wanted = asked('chat', [PARTS.chat.inline('content')])
  t.equal(present(first.calls[0]).body.toString(), went(wanted))
  t.equal(present(second.calls[0]).body.toString(), went(wanted, 'second-model'))
  const messages = await openInlineFiles(t, 'messages')
  const stored = await messages.store('content', 'a.txt')
  const { max_tokens: _, ...prompt } = asked('messages', [PARTS.messages.named(stored.id)]) as {
    max_tokens: number
  }
  const counted = await fetch(`${messages.url}/api/v1/messages/count_tokens`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify(prompt),
  })
  t.same(await counted.json(), { input_tokens: PROMPT_TOKENS })
  const { max_tokens: __, ...inline } = asked('messages', [PARTS.messages.inline('content')]) as {
    max_tokens: number
  }
  t.equal(present(messages.first.calls[0]).body.toString(), went(inline))
})

t.test('a file that may not be sent is refused with its path, and nothing reaches a provider', async (t) => {
  const front = await openInlineFiles(t, 'chat')
  const { files, workspaceId, otherWorkspaceId } = front.stand
  const row = (facts: object, owner = workspaceId): Promise<string> => storedFile(files, owner, facts)
  const half = INFERENCE_BODY_BYTES_MAX / 2
  const [large, big, flac, own, foreign] = await Promise.all([
    row({ sizeBytes: INLINE_FILE_BYTES_MAX + 1 }),
    row({ sizeBytes: (half / 4) * 3 }),
    row({ mimeType: 'audio/flac' }),
    row({}),
    row({}, otherWorkspaceId),
  ])
  const { named } = PARTS.chat
  const both = { type: 'file', file: { file_id: own, file_data: 'data:,x' } }
  const path = '/messages/0/content/0/file/file_id'
  const cases: readonly (readonly [string, readonly object[], number, string, string | null])[] = [
    ['an unknown file', [named(`file_${'0'.repeat(32)}`)], 404, 'file_unknown', path],
    ['a file of another workspace', [named(foreign)], 404, 'file_unknown', path],
    ['a larger file', [named(large)], 413, 'file_too_large', path],
    ['files that are too large together', [named(big), named(big)], 413, 'body_too_large', null],
    ['a file of a type that no part has', [named(flac)], 400, 'body_invalid', path],
    ['an id beside data', [both], 400, 'body_invalid', '/messages/0/content/0/file/file_data'],
    [
      'one file too many',
      Array.from({ length: INLINE_FILES_MAX + 1 }, () => named(own)),
      400,
      'body_invalid',
      `/messages/0/content/${INLINE_FILES_MAX}/file/file_id`,
    ],
    [
      'a hundred thousand files',
      Array.from({ length: 100_000 }, () => named(own)),
      400,
      'body_invalid',
      `/messages/0/content/${INLINE_FILES_MAX}/file/file_id`,
    ],
  ]
  for (const [what, parts, status, type, param] of cases) {
    const response = await front.post(asked('chat', parts))
    t.equal(response.status, status, what)
    const member = param === null ? null : memberPath(param)
    t.match(await response.json(), { error: { metadata: { error_type: type }, param: member } }, what)
  }
  t.equal(front.first.calls.length, 0)
})

t.test('a key that may not download files cannot send one', async (t) => {
  const cases = [
    [{ keys: { scopes: ['inference'] } }, 'scope_missing', /files:read/],
    [{ regionalHosts: ['127.0.0.1'] }, 'regional_refused', /regional/],
  ] as const
  for (const [options, type, text] of cases) {
    const { post, store } = await openInlineFiles(t, 'chat', options)
    const { id } = await store('secret', 'a.txt')
    const response = await post(asked('chat', [PARTS.chat.named(id)]))
    t.equal(response.status, 403)
    t.match(await response.json(), { error: { message: text, metadata: { error_type: type } } })
    t.equal((await post(asked('chat', [PARTS.chat.named('file-abc')]))).status, 400, 'a file of the provider')
  }
})

/** Files whose content the test controls. Counts open contents and the bytes read. */
class Watched {
  open = 0
  opened = 0
  readBytes = 0
  #open: (content: Content) => Outcome<Content> = ok

  /** @param open stands between a stored content and its reader */
  constructor(open?: (content: Content) => Outcome<Content>) {
    if (open !== undefined) this.#open = open
  }

  around(transfers: Transfers): Transfers {
    return {
      ...transfers,
      openFile: async (file, signal) => {
        const content = await transfers.openFile(file, signal)
        if (!content.ok) return content
        this.open++
        this.opened++
        return this.#open(this.#watched(content.value))
      },
    }
  }

  #watched(content: Content): Content {
    return {
      ...content,
      read: async (from, to) => {
        const reader = await content.read(from, to)
        if (!reader.ok) return reader
        const { value } = reader
        const next = async (): ReturnType<typeof value.next> => {
          const piece = await value.next()
          if (piece.ok) this.readBytes += piece.value?.length ?? 0
          return piece
        }
        return ok({ next, close: () => value.close() })
      },
      close: () => {
        this.open--
        content.close()
      },
    }
  }
}

/** The content breaks off after its first piece. */
const damaged = (content: Content): Outcome<Content> =>
  ok({
    ...content,
    read: async (from, to) => {
      const reader = await content.read(from, to)
      if (!reader.ok) return reader
      let pieces = 0
      return ok({
        next: () => (pieces++ === 0 ? reader.value.next() : Promise.resolve(fail('content_damaged'))),
        close: () => reader.value.close(),
      })
    },
  })

async function openWatched(
  t: Parameters<typeof openInlineFiles>[0],
  watched: Watched,
): Promise<InlineFilesFront & { readonly spend: ReturnType<typeof keptSpend> }> {
  const spend = keptSpend()
  const front = await openInlineFiles(t, 'chat', { spend, watch: (transfers) => watched.around(transfers) })
  return { ...front, spend }
}

t.test('when an endpoint breaks off while it receives the file, the next one answers', async (t) => {
  const watched = new Watched()
  const front = await openWatched(t, watched)
  const { id } = await front.store('x'.repeat(KIB * KIB), 'a.txt')
  for (const stream of [false, true]) {
    front.first.meets('stall')
    const response = front.post(asked('chat', [PARTS.chat.named(id)], { stream }))
    await until('the file is read', () => watched.readBytes > 0)
    front.first.cut()
    t.equal((await response).headers.get('x-sluice-provider'), 'second')
    t.match(await (await response).text(), /you/)
    watched.readBytes = 0
  }
  t.same([watched.open, watched.opened], [0, 4])
  t.equal(await front.rest(), 0)
})

t.test('an unreadable file is not counted as a provider failure, and costs nothing', async (t) => {
  const watched = new Watched(damaged)
  const front = await openWatched(t, watched)
  const { id } = await front.store('x'.repeat(1_024 * KIB), 'a.txt')
  for (const stream of [false, true]) {
    // More than the strikes that open a breaker.
    for (let nth = 0; nth < 12; nth++) {
      const response = await front.post(asked('chat', [PARTS.chat.named(id)], { stream }))
      t.equal(response.status, 500)
      t.match(await response.json(), { error: { metadata: { error_type: 'content_damaged' } } })
    }
  }
  t.same([front.first.calls.length, front.second.calls.length], [0, 0])
  t.same(front.breakers(), [])
  t.ok(front.spend.holds.every(({ end }) => end === 'released'))
  t.equal(watched.open, 0)
  t.equal(await front.rest(), 0)
  t.equal((await front.post(asked('chat', [{ type: 'text', text: 'x' }]))).status, 200)
})

t.test('a file that is deleted before it is read gets 404 with its path', async (t) => {
  const front = await openInlineFiles(t, 'chat', {
    watch: (transfers) => ({
      ...transfers,
      openFile: async (file, signal) => {
        await transfers.remove(file.workspaceId, file.id)
        return transfers.openFile(file, signal)
      },
    }),
  })
  const { id } = await front.store('gone', 'a.txt')
  const response = await front.post(asked('chat', [PARTS.chat.named(id)]))
  t.equal(response.status, 404)
  t.match(await response.json(), { error: { param: 'messages[0].content[0].file.file_id' } })
  t.same(front.breakers(), [])
})

t.test('reading a file pauses while the provider is stalled, and ends on a caller disconnect', async (t) => {
  const watched = new Watched()
  const front = await openWatched(t, watched)
  const { id } = await front.store('x'.repeat(INLINE_FILE_BYTES_MAX), 'a.txt')
  for (const how of ['stall', 'serve'] as const) {
    front.first.meets(how)
    front.first.closeIdle()
    const leaving = new AbortController()
    const body = asked('chat', [PARTS.chat.named(id)], { stream: true })
    if (how === 'serve') front.first.script((call) => call.closed)
    const response = front.post(body, {}, leaving.signal).catch(() => null)
    await until('the file is open', () => watched.open === 1)
    if (how === 'serve') await until('it was sent', () => watched.readBytes >= INLINE_FILE_BYTES_MAX)
    else {
      let before = -1
      await until('the reading stands still', () => before === (before = watched.readBytes) && before > 0)
      t.ok(watched.readBytes < INLINE_FILE_BYTES_MAX, `${watched.readBytes} bytes were read`)
    }
    leaving.abort()
    await response
    await until('the file is closed', () => watched.open === 0)
    watched.readBytes = 0
    t.equal(await front.rest(), 0)
  }
})

t.test('a refusal of the provider is returned without the content of a file', async (t) => {
  const { post, store, first, log, lines, settled } = await openInlineFiles(t, 'chat')
  const content = 'the quick brown fox jumps over the lazy dog'
  const { id } = await store(content, 'a.txt')
  first.script(refusesChat(400, { message: `I cannot read: ${content}`, code: 'the quick brown fox' }))
  const response = await post(asked('chat', [PARTS.chat.named(id)]))
  t.equal(response.status, 400)
  const logged = [await response.text(), JSON.stringify(log.events), ...lines, JSON.stringify(settled)]
  t.notMatch(logged.join('\n'), /quick brown/)
})

interface Uploading {
  readonly beta: { readonly files: { upload(asked: object): Promise<{ readonly id: string }> } }
  readonly messages: { create(asked: object): Promise<object> }
}
interface Package {
  readonly default: new (options: object) => Uploading
  toFile(content: Uint8Array, name: string): Promise<object>
}

t.test('clients of OpenAI and of Anthropic upload a file and use it in a call', async (t) => {
  const chat = await openInlineFiles(t, 'chat')
  const client = new OpenAI({ baseURL: `${chat.url}/api/v1`, apiKey: KEY, maxRetries: 0 })
  const file = await toFile(Buffer.from('from a client'), 'a.txt')
  const { id } = await client.files.create({ file, purpose: 'user_data' })
  await client.chat.completions.create({
    model: 'acme/chat',
    messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: id } }] }],
  })
  const body = JSON.parse(present(chat.first.calls[0]).body.toString()) as { messages: object }
  t.match(body.messages, [{ content: [PARTS.chat.inline('from a client')] }])

  const anthropic = (await load('@anthropic-ai/sdk')) as Package
  const messages = await openInlineFiles(t, 'messages')
  const other = new anthropic.default({ baseURL: `${messages.url}/api`, apiKey: KEY, maxRetries: 0 })
  const picture = await other.beta.files.upload({ file: await anthropic.toFile(png(), 'p.png') })
  const block = { type: 'image', source: { type: 'file', file_id: picture.id } }
  await other.messages.create(asked('messages', [block]))
  const data = png().toString('base64')
  const got = JSON.parse(present(messages.first.calls[0]).body.toString()) as { messages: object }
  t.match(got.messages, [
    { content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data } }] },
  ])
})
