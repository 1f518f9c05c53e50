import t from 'tap'
import type { Dialect } from '../../../src/schemas/inference/text-request.ts'
import { read, translated } from '../../support/inference/bodies/translated.ts'
import { needsOf } from '../../../src/dialects/prompt/prompt-draft.ts'

type Body = Readonly<Record<string, unknown>>

const needs = (dialect: Dialect, more: Body): readonly string[] =>
  needsOf(read(dialect, more)).map(({ path, protocols }) => [path, ...protocols].join(' '))
const chatOf = (...content: readonly unknown[]): Body => ({ messages: [{ role: 'user', content }] })

t.test('lists the needs of a request, with the protocols that lack them', (t) => {
  t.same(needs('chat', { stop: 'x' }), ['/stop responses'])
  t.same(needs('messages', { stop_sequences: ['\n'] }), ['/stop_sequences responses messages'])
  t.same(needs('chat', { response_format: { type: 'json_object' } }), ['/response_format messages'])
  t.same(needs('responses', { text: { format: { type: 'json_object' } } }), ['/text/format messages'])
  t.same(needs('chat', { n: 2 }), ['/n responses messages gemini'])
  t.same(needs('responses', { previous_response_id: 'r' }), ['/previous_response_id chat messages gemini'])
  t.same(needs('chat', {}), [])
  t.end()
})

t.test('refuses more stop sequences than OpenAI accepts if the provider knows only its members', (t) => {
  const five = ['1', '2', '3', '4', '5']
  t.same(needs('messages', { stop_sequences: five.slice(1) }), ['/stop_sequences responses'])
  const [, strict] = needsOf(read('messages', { stop_sequences: five }))
  t.match(strict, {
    ...{ path: '/stop_sequences', protocols: ['chat'], isOfStrict: true },
    expected:
      "at most 4 stop sequences, or an endpoint that supports messages or gemini, or chat with more fields than OpenAI's",
  })
  const { refused } = translated(['messages', 'chat'], { stop_sequences: five }, { isStrict: true })
  t.same(
    refused.map(({ path }) => path),
    ['/stop_sequences'],
  )
  t.same(translated(['messages', 'chat'], { stop_sequences: five }).refused, [])
  t.end()
})

t.test('a refusal names the accepted values', (t) => {
  const reported = (dialect: Dialect, more: Body): readonly string[] =>
    needsOf(read(dialect, more)).map(({ expected }) => expected)
  t.same(reported('chat', { stop: ['1', '2', '3', '4', '5', '6'] }), [
    'at most 5 stop sequences for gemini, or an endpoint that supports chat or messages',
  ])
  t.same(reported('responses', { text: { format: { type: 'json_object' } } }), [
    'the type `json_schema`, or an endpoint that supports chat or responses or gemini',
  ])
  t.same(reported('chat', { function_call: { name: 'f' } }), [
    '"none" or "auto", or an endpoint that supports chat',
  ])
  t.same(reported('chat', { prediction: { type: 'content' } }), ['an endpoint that supports chat'])
  t.end()
})

t.test('media that a protocol lacks are listed by the path of their part, each kind once', (t) => {
  const audio = { type: 'input_audio', input_audio: { data: 'A', format: 'wav' } }
  const video = { type: 'video_url', video_url: { url: 'https://x.example/a.mp4' } }
  const word = { type: 'file', file: { file_data: 'data:application/msword;base64,AA==' } }
  const byId = { type: 'file', file: { file_id: 'file-1' } }
  t.same(needs('chat', chatOf(audio, audio, video)), [
    ...['/messages/0/content/0 responses messages', '/messages/0/content/2 responses messages'],
    '/messages/0/content/2 chat',
  ])
  const ofItems = { type: 'input_video', video_url: 'https://x.example/a.mp4' }
  t.same(
    needs('responses', { input: [{ role: 'user', content: [audio, ofItems] }] }),
    ['/input/0/content/0 messages', '/input/0/content/1 messages', '/input/0/content/1 chat'],
    'who speaks as the caller does has words for them',
  )
  t.same(needs('chat', chatOf(word)), ['/messages/0/content/0 messages gemini'])
  t.same(needs('chat', chatOf(byId)), ['/messages/0/content/0 chat responses messages gemini'])
  const ours = { type: 'file', file: { file_id: `file_${'0'.repeat(32)}` } }
  t.same(needs('chat', chatOf(ours)), [], 'it comes as its content')
  const odd = { type: 'image_url', image_url: { url: 'data:,x' } }
  t.same(needs('chat', chatOf(odd)), ['/messages/0/content/0 messages gemini'])
  t.end()
})

t.test('writers refuse the needs that their protocol lacks, and say how to change the call', (t) => {
  const { refused } = translated(['chat', 'responses'], { stop: 'x', n: 2 })
  t.same(refused, [
    {
      ...{ path: '/n', message: 'is not supported by the API of the provider' },
      expected: '1, or an endpoint that supports chat',
    },
    {
      ...{ path: '/stop', message: 'is not supported by the API of the provider' },
      expected: 'an endpoint that supports chat or messages or gemini',
    },
  ])
  const video = chatOf({ type: 'video_url', video_url: { url: 'https://x.example/a.mp4' } })
  const pathsOf = (isStrict: boolean) =>
    translated(['chat', 'chat'], video, { isStrict }).refused.map(({ path }) => path)
  t.same([pathsOf(false), pathsOf(true)], [[], ['/messages/0/content/0']])
  t.end()
})
