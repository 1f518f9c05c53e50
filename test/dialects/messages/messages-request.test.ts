/** What a provider of messages gets of a body: the caller's bytes, member by member. */
import t from 'tap'
import { randomFrom, type Random } from '../../support/embeddings/random-answers.ts'
import { OURS } from '../../support/inference/cut-members.ts'
import type { Endpoint } from '../../../src/server/ports/models/models.ts'
import { bytesOf, keptChat } from '../../support/inference/kept-chat.ts'
import { nativeRequest } from '../../../src/server/upstream/inference/native-wire.ts'

const ENDPOINT = { upstreamModel: 'up "1"', provider: { slug: 'acme' } } as unknown as Endpoint
const TEXT = { isStrict: false }

/** A member as the body writes it. */
interface Written {
  readonly name: string
  readonly key: string
  readonly json: string
}

const VALUES: Readonly<Record<string, readonly string[]>> = {
  model: ['"m"', '"\\u006d"'],
  max_tokens: ['5', '5.0', '5e0'],
  messages: [
    '[{"role":"user","content":"\\u00e9 é 😀 \\ud83d\\ude00","x":[1.0,-0,"1e400"]}]',
    '[{"content":[{"type":"text","text":"","cache_control":{"type":"ephemeral"}}],"role":"user"}]',
  ],
  system: ['null', '"s\\/"', '[]', '[{"type":"text","text":"a","x":null}]'],
  metadata: ['{"user_id":"u"}', 'null', '{}'],
  temperature: ['1.0', '1E0', 'null'],
  thinking: ['{"type":"enabled","budget_tokens":1024}', '{"type":"adaptive","x":[]}'],
  stream: ['true', 'false', 'null'],
  provider: ['null', '{"order":["a"]}'],
  models: ['[]', '["n"]'],
  plugins: ['[]', 'null'],
  transforms: ['["middle-out"]', '[]'],
  session_id: ['"s"'],
  route: ['"fallback"'],
  usage: ['{"include":true}'],
  trace: ['{"a":1}'],
  unknown_member: ['1.0e300', '[[[]]]', '{"model":"m","provider":1}', '"\\u0000"'],
  context_management: ['{"edits":[{"type":"clear"}]}'],
}
const REQUIRED = ['model', 'max_tokens', 'messages']

function pick<T>(random: Random, from: readonly T[]): T {
  return from[Math.floor(random() * from.length)] as T
}

/** The name as it is, or with a letter escaped. */
function keyOf(random: Random, name: string): string {
  if (random() < 0.9) return JSON.stringify(name)
  const code = name.charCodeAt(0).toString(16).padStart(4, '0')
  return `"\\u${code}${name.slice(1)}"`
}

function randomMembers(random: Random): readonly Written[] {
  const others = Object.keys(VALUES).filter((name) => !REQUIRED.includes(name) && random() < 0.4)
  const twice = random() < 0.2 ? [pick(random, [...REQUIRED, ...others])] : []
  const names = [...REQUIRED, ...others, ...twice]
  for (let at = names.length - 1; at > 0; at--) {
    const other = Math.floor(random() * (at + 1))
    const [one, two] = [names[at], names[other]]
    if (one !== undefined && two !== undefined) [names[at], names[other]] = [two, one]
  }
  return names.map((name) => {
    return { name, key: keyOf(random, name), json: pick(random, VALUES[name] ?? []) }
  })
}

/** Known members that come twice go out once, the last of them. */
function expectedOf(members: readonly Written[]): string {
  const kept = members.filter(({ name }, nth) => {
    const isLast = members.findLastIndex((other) => other.name === name) === nth
    return !OURS.includes(name) && (isLast || ['unknown_member'].includes(name))
  })
  const upstream = JSON.stringify(ENDPOINT.upstreamModel)
  return `{${kept.map(({ name, key, json }) => `${key}:${name === 'model' ? upstream : json}`).join(',')}}`
}

t.test('random bodies are sent member by member, except the model and the members for Sluice', (t) => {
  const seed = Math.floor(Math.random() * 2 ** 32)
  const random = randomFrom(seed)
  for (let nth = 0; nth < 500; nth++) {
    const members = randomMembers(random)
    const text = `{${members.map(({ key, json }) => `${key}:${json}`).join(',')}}`
    const { digest, body } = keptChat(text, { dialect: 'messages', isOnLoop: random() < 0.5 })
    const { body: pieces, dropped } = nativeRequest({ request: { ...digest, source: body } }, ENDPOINT, TEXT)
    const sent = bytesOf(pieces).toString()
    const expected = expectedOf(members)
    if (sent !== expected || dropped.length > 0)
      throw new Error(`seed ${seed}, body ${nth}: ${text}\nsent ${sent}\nnot  ${expected}`)
  }
  t.pass(`seed ${seed}`)
  t.end()
})

t.test('requests for two turns of a conversation begin with the same bytes', (t) => {
  const sent = (text: string): string => {
    const { digest, body } = keptChat(text, { dialect: 'messages' })
    return bytesOf(nativeRequest({ request: { ...digest, source: body } }, ENDPOINT, TEXT).body).toString()
  }
  const head =
    '{"model":"m","provider":null,"max_tokens":5,"system":"\\u00e9","messages":[{"role":"user","content":"é"}'
  const first = sent(`${head}]}`)
  const second = sent(`${head},{"role":"assistant","content":"x"},{"role":"user","content":"y"}]}`)
  t.ok(second.startsWith(first.slice(0, -2)))
  t.end()
})

t.test('sends the API version of the caller, or else the default one', (t) => {
  const { digest, body: source } = keptChat(
    '{"model":"m","max_tokens":1,"messages":[{"role":"user","content":""}]}',
    {
      dialect: 'messages',
    },
  )
  const request = { ...digest, source }
  const headersOf = (passedHeaders?: readonly string[]): unknown =>
    nativeRequest({ request, ...(passedHeaders && { passedHeaders }) }, ENDPOINT, TEXT).headers
  t.same(headersOf(), ['anthropic-version', '2023-06-01'])
  t.same(headersOf(['anthropic-beta', 'b']), ['anthropic-version', '2023-06-01', 'anthropic-beta', 'b'])
  t.same(headersOf(['anthropic-version', '2026-10-21']), ['anthropic-version', '2026-10-21'])
  t.end()
})
