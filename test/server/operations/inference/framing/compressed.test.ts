/** Providers, or proxies before them, that compress an answer although none was asked for: D14, D22. */
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { DIALECTS } from '../../../../../src/schemas/inference/text-request.ts'
import { STREAM_BYTES_MAX } from '../../../../../src/schemas/inference/stream-limits.ts'
import { UPSTREAM_WRITTEN_BYTES_MAX } from '../../../../../src/schemas/models/provider-limits.ts'
import {
  answersPacked,
  ENCODINGS,
  packed,
  type Packing,
} from '../../../../support/inference/bodies/packed.ts'
import { chatEvents } from '../../../../support/inference/fake-chat.ts'
import { openChatProvider } from '../../../../support/inference/chat-provider-front.ts'
import type { FakeAnswer, FakeCall } from '../../../../support/inference/fake-provider.ts'
import { bodyOf, Steps } from '../../../../support/inference/fake-stream.ts'
import { rigged } from '../../../../support/inference/text-rig.ts'
import { present } from '../../../../support/must.ts'

const CALL = { body: Buffer.from('{"stream_options":{"include_usage":true}}') } as unknown as FakeCall
const EVENTS = chatEvents(CALL).map((event) => bodyOf([event]))
const HELLO = { model: 'acme/chat', messages: [{ role: 'user', content: 'Hello there' }] }

for (const packing of Object.keys(ENCODINGS) as Packing[])
  t.test(`${packing}: each event reaches the caller before the provider sends the next one`, async (t) => {
    const { send, first, rest } = await rigged(t, 'chat')
    const pieces = await packed(packing, EVENTS)
    for (const dialect of DIALECTS) {
      const steps = new Steps()
      first.script(answersPacked(ENCODINGS[packing][0], pieces, { go: () => steps.next() }))
      const pending = send(dialect, { stream: true })
      // Its role, and the first word.
      steps.allow(2)
      const reader = present((await pending).body).getReader()
      let text = ''
      const until = async (word: string): Promise<void> => {
        while (!text.includes(word)) text += Buffer.from(present((await reader.read()).value)).toString()
      }
      for (const word of ['"Hello"', '" there"', '","', '" you"']) {
        await until(word)
        steps.allow(1)
      }
      steps.allow(pieces.length)
      for (let read = await reader.read(); !read.done; read = await reader.read())
        text += Buffer.from(read.value).toString()
      t.match(text, /"cost":0\.000017/)
    }
    t.equal(await rest(), 0)
  })

t.test('returns the message of a compressed refusal, and streams a compressed whole answer', async (t) => {
  const { post, first } = await openChatProvider(t)
  const refusal = gzipSync('{"error":{"message":"No such voice."}}')
  first.script(answersPacked('gzip', [refusal], { status: 400, type: 'application/json' }))
  const refused = await post({ ...HELLO, stream: true })
  t.equal(refused.status, 400)
  t.match(await refused.json(), { error: { message: /No such voice/ } })
  const choices = [{ index: 0, message: { content: 'Hi' }, finish_reason: 'stop' }]
  first.script(answersPacked('gzip', [gzipSync(JSON.stringify({ choices }))]))
  t.match(await (await post({ ...HELLO, stream: true })).text(), /"content":"Hi"[^]*\[DONE\]/)
})

t.test('the size limits of a body apply to its decoded bytes', async (t) => {
  const { post, first, rest } = await openChatProvider(t)
  const failed = async (answer: FakeAnswer): Promise<unknown> => {
    first.script(answer)
    const response = await post({ ...HELLO, stream: true, provider: { only: ['first'] } })
    return ((await response.json()) as { error: { type: string } }).error.type
  }
  const json = [Buffer.from('{"a":"'), Buffer.alloc(UPSTREAM_WRITTEN_BYTES_MAX, 0x61)]
  t.equal(await failed(answersPacked('gzip', [gzipSync(Buffer.concat(json))])), 'upstream_too_large')
  const comment = [Buffer.from(': '), Buffer.alloc(STREAM_BYTES_MAX, 0x61)]
  t.equal(await failed(answersPacked('gzip', [gzipSync(Buffer.concat(comment))])), 'upstream_too_large')
  t.equal(await failed(answersPacked('zstd', [Buffer.from('x')])), 'upstream_invalid')
  t.equal(await failed(answersPacked('gzip', [Buffer.from('data: x\n\n')])), 'upstream_invalid')
  t.equal(await rest(), 0)
})
