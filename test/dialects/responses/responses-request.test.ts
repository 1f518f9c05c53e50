/** What a provider that speaks responses gets of a call. */
import { isDeepStrictEqual } from 'node:util'
import t from 'tap'
import type { Endpoint } from '../../../src/server/ports/models/models.ts'
import { randomOf, writtenMembers } from '../../support/inference/chat-texts.ts'
import { FOREIGN, INSIDE, OURS, without } from '../../support/inference/cut-members.ts'
import { bytesOf, keptChat } from '../../support/inference/kept-chat.ts'
import { nativeRequest } from '../../../src/server/upstream/inference/native-wire.ts'

const CASES = 500
type Value = Record<string, unknown>

const TEXT = { maxCompletionTokens: 77, inputNanoPerMillionMax: 1, outputNanoPerMillionMax: 1 }
const ENDPOINT = {
  upstreamModel: 'up',
  provider: { slug: 'acme' },
  text: TEXT,
  contextLength: null,
} as unknown as Endpoint
const OWN = { ...ENDPOINT, ownWay: {} } as unknown as Endpoint
const LIMITED = { isCreditLimited: true } as never

interface Sent {
  readonly out: string
  readonly dropped: readonly string[]
}

function sent(
  text: string,
  {
    endpoint = ENDPOINT,
    isStrict = false,
    limits = null,
  }: { endpoint?: Endpoint; isStrict?: boolean; limits?: never | null } = {},
): Sent {
  const { digest, body } = keptChat(text, { dialect: 'responses' })
  const request = { ...digest, source: body }
  const { body: pieces, dropped } = nativeRequest({ request, limits }, endpoint, { isStrict })
  return { out: bytesOf(pieces).toString(), dropped }
}

const CUT = [...FOREIGN, 'presence_penalty', 'frequency_penalty', 'modalities']
const OF_TYPE: Readonly<Record<string, readonly string[]>> = {
  reasoning: ['format', 'signature'],
  function_call: ['subagent_id', 'subagent_items'],
}
const isReference = (item: unknown): boolean => {
  const { type, id } = item as Value
  return type === 'item_reference' && String(id).startsWith('rs_')
}

/** The request that a provider has to get, made from the parsed body. */
function expectedOf(text: string, isOwn: boolean, isStrict: boolean): Value {
  const body = JSON.parse(text) as Value
  const cut = (item: unknown): Value => (isStrict ? without(item, INSIDE) : (item as Value))
  const cutItem = (item: unknown): Value =>
    isStrict ? without(cut(item), OF_TYPE[String((item as Value)['type'])] ?? []) : (item as Value)
  const { input, tools, reasoning } = body
  const items = (Array.isArray(input) ? (input as unknown[]) : [])
    .filter((item) => isOwn || !isReference(item))
    .map((item) => {
      const { content, ...more } = cutItem(item)
      if (content === undefined) return more
      return { ...more, content: Array.isArray(content) ? content.map(cut) : content }
    })
  return {
    ...without(body, [...OURS, ...(isStrict ? CUT : [])]),
    model: 'up',
    ...(isOwn ? null : { store: false }),
    ...(Array.isArray(input) && { input: items }),
    ...(Array.isArray(tools) && { tools: tools.map(cut) }),
    ...(isStrict &&
      typeof reasoning === 'object' &&
      reasoning !== null && { reasoning: without(reasoning, ['max_tokens', 'enabled', 'exclude']) }),
  }
}

/** Writes random bodies with white space wherever JSON takes it. */
class Texts {
  readonly #random: () => number

  constructor(seed: number) {
    this.#random = randomOf(seed)
  }

  body(): string {
    const members: Value = { model: 'a/b', input: this.#input() }
    const others: Value = {
      ...{ store: this.#one([false, null]), top_k: 4, presence_penalty: this.#one([0, 0.5]), x: { a: [1] } },
      ...{
        models: ['c/d'],
        provider: null,
        usage: { include: true },
        session_id: 's',
        previous_response_id: null,
      },
      ...{ reasoning: { effort: 'low', max_tokens: 5, enabled: true, summary: 'auto' }, instructions: 'é' },
      ...{
        tools: [
          { type: 'function', name: 'f', cache_control: {} },
          { type: 'custom', name: 'c' },
        ],
      },
      ...{ modalities: ['text'], cache_control: { type: 'ephemeral' }, id: 'top', type: 'top' },
    }
    const names = Object.keys(others).filter(() => this.#is(0.4))
    for (const name of names) members[name] = others[name]
    return this.#written(members)
  }

  #input(): unknown {
    if (this.#is(0.1)) return 'Hello'
    return Array.from({ length: Math.floor(this.#random() * 7) }, () =>
      this.#one<unknown>([
        { type: 'item_reference', id: 'rs_1' },
        { id: 'rs_"2', type: 'item_reference' },
        { role: 'user', content: 'item_reference' },
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'x', cache_control: {} }] },
        { type: 'reasoning', id: 'rs_3', summary: [], cache_control: null },
        { signature: 's', type: 'reasoning', id: 'rs_5', format: 'x', summary: [], deep: { format: 1 } },
        { role: 'user', content: 'x', signature: 's', format: 'kept' },
        {
          type: 'function_call',
          call_id: 'c',
          name: 'f',
          arguments: '{}',
          subagent_id: 'a',
          subagent_items: [],
        },
        { type: 'function_call_output', call_id: 'c', output: '{"type":"item_reference"}' },
        { id: 'x', type: 'unknown', list: [{ type: 'item_reference', id: 'rs_4' }] },
      ]),
    )
  }

  #written(value: unknown): string {
    const space = (): string => this.#one(['', '', ' ', '\n\t'])
    if (Array.isArray(value))
      return `[${space()}${value.map((one) => this.#written(one) + space()).join(`,${space()}`)}]`
    if (typeof value !== 'object' || value === null) return JSON.stringify(value)
    const members = Object.entries(value).map(
      ([name, member]) => `${JSON.stringify(name)}${space()}:${space()}${this.#written(member)}${space()}`,
    )
    return `{${space()}${members.join(`,${space()}`)}}`
  }

  #is(share: number): boolean {
    return this.#random() < share
  }

  #one<T>(all: readonly T[]): T {
    return all[Math.floor(this.#random() * all.length)] as T
  }
}

t.test('random calls are sent without Sluice members and without items that are not stored', async (t) => {
  let cuts = 0
  for (let seed = 0; seed < CASES; seed++) {
    const text = new Texts(seed).body()
    for (const isOwn of [false, true]) {
      const isStrict = seed % 2 === 0
      const { out, dropped } = sent(text, { endpoint: isOwn ? OWN : ENDPOINT, isStrict })
      const expected = expectedOf(text, isOwn, isStrict)
      const got = JSON.parse(out) as Value
      if (dropped.includes('item_reference')) cuts++
      if (isDeepStrictEqual(got, expected)) continue
      t.same(got, expected, `seed ${seed}: ${text}`)
      return
    }
  }
  t.ok(cuts > CASES / 4, 'references were among them')
})

t.test('members that no rule changes are sent byte for byte', async (t) => {
  const input = '[ {"role":"user", "content":[{"type":"input_text","text":"a\\u0062","x":1.0} ] } ]'
  const { out, dropped } = sent(
    `{"model":"m" , "input" : ${input}, "store" : true , "x":1.0e5,"tools":[ ]}`,
    {
      endpoint: OWN,
      isStrict: true,
    },
  )
  t.same(
    writtenMembers(out).map(({ value }) => value),
    ['"up"', input, 'true', '1.0e5', '[ ]'],
  )
  t.same(dropped, [])
})

t.test('removed members are reported as dropped, unless their value is the default', async (t) => {
  for (const [member, named] of [
    ['"top_k":40', ['top_k']],
    ['"presence_penalty":0', []],
    ['"presence_penalty":0.0', []],
    ['"frequency_penalty":1', ['frequency_penalty']],
    ['"modalities":["text"]', []],
    ['"modalities":[ "text" ]', []],
    ['"modalities":["text","image"]', ['modalities']],
    ['"reasoning":{"enabled":true,"exclude":false}', []],
    [
      '"reasoning":{"enabled":false,"exclude":true,"max_tokens":3}',
      ['reasoning.enabled', 'reasoning.exclude', 'reasoning.max_tokens'],
    ],
    ['"x":{"max_tokens":3,"enabled":false}', []],
    ['"tools":[{"type":"custom","cache_control":{}}]', ['cache_control']],
  ] as const)
    t.same(sent(`{"model":"m","input":"x",${member}}`, { isStrict: true }).dropped, named, member)
})

t.test('a maximum is sent if a finite limit counts the call and the request has none', async (t) => {
  const maxOf = (text: string, limits: never | null): unknown =>
    (JSON.parse(sent(text, { limits }).out) as Value)['max_output_tokens']
  t.equal(maxOf('{"model":"m","input":"x"}', LIMITED), 77)
  t.equal(maxOf('{"model":"m","input":"x","max_output_tokens":null}', LIMITED), 77)
  t.equal(maxOf('{"model":"m","input":"x","max_output_tokens":5}', LIMITED), 5)
  t.equal(maxOf('{"model":"m","input":"x"}', null), undefined)
})

t.test('the last of a duplicate member counts', async (t) => {
  const item = '{"type":"message","id":"msg_1","type":"item_reference","id":"rs_1"}'
  t.same(JSON.parse(sent(`{"model":"m","input":[${item}]}`).out), { model: 'up', input: [], store: false })
  const other = '{"type":"item_reference","id":"rs_1","type":"unknown"}'
  t.match(JSON.parse(sent(`{"model":"m","input":[${other}]}`).out), { input: [{ type: 'unknown' }] })
})
