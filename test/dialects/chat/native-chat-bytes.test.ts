/** What a provider's events become, against a parser and against every way to cut them. */
import t from 'tap'
import { Compile } from 'typebox/compile'
import { ChatChunk } from '../../../src/schemas/inference/chat.ts'
import { randomFrom, type Random } from '../../support/embeddings/random-answers.ts'
import { sameWhereverCut, summaryOf } from '../../support/inference/cut-streams.ts'
import { ExpectedCalls } from '../../support/inference/bodies/expected-calls.ts'
import {
  dataOf,
  expectedOf,
  HEAD,
  randomEvent,
  FAILURE_OF,
  streamOf,
  written,
} from '../../support/inference/provider-chunks.ts'
import { NativeChatStream } from '../../../src/dialects/chat/stream.ts'

const isChunk = Compile(ChatChunk)
const streamed = (): NativeChatStream => new NativeChatStream(HEAD, FAILURE_OF)
const STREAMS = { open: streamed, eventsOf: dataOf }

const head = { id: 'chatcmpl-7', object: 'chat.completion.chunk', created: 17, model: 'm-1' }
const stated = (delta: object, finish: string | null = null): object => ({
  ...head,
  choices: [{ index: 0, delta, finish_reason: finish }],
  usage: null,
})
const STREAM = [
  stated({ role: 'assistant', content: '' }),
  stated({ content: 'é "x" ' }),
  stated({ reasoning_content: 'hm' }),
  stated({ tool_calls: [{ id: 'c', function: { name: 'f', arguments: '{}' } }] }),
  stated({}, 'tool_calls'),
  { ...head, choices: [], usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 } },
  '[DONE]',
]

for (const lineEnd of ['\n', '\r', '\r\n']) {
  t.test(`a stream with ${JSON.stringify(lineEnd)} gives the same events however it is split`, async (t) => {
    const bytes = Buffer.concat([
      Buffer.from(`\ufeff: hello${lineEnd}${lineEnd}id: 1${lineEnd}event: message${lineEnd}`),
      streamOf(STREAM, lineEnd),
    ])
    t.match(summaryOf(STREAMS, [bytes]), {
      end: null,
      isDone: true,
      hasOutput: true,
      outputBytes: 11,
      upstreamId: 'chatcmpl-7',
    })
    sameWhereverCut(t, STREAMS, { bytes, wholeAt: bytes.indexOf('"tool_calls"}') })
  })
}

t.test('an event of several lines is passed on as an event of one line', async (t) => {
  const text = JSON.stringify(stated({ role: 'assistant', content: 'x' }), null, 1)
  const lines = Buffer.from(`data: ${text.replaceAll('\n', '\ndata: ')}\n\n`)
  t.same(JSON.parse(dataOf(streamed().read(lines).events)[0] ?? ''), expectedOf(JSON.parse(text) as object))
})

interface Before {
  readonly begun: Set<number>
  readonly calls: ExpectedCalls
  /** Null: no event was passed on. */
  created: number | null
}

/** The events that a stream gives for one event, and what they have to be. */
function compare(text: string, stream: NativeChatStream, before: Before): string | null {
  const { begun, calls } = before
  const { events, failure } = stream.read(Buffer.from(`data: ${text}\n\n`))
  if (failure !== null) return `failed: ${failure.name}`
  const given = dataOf(events).map((data) => JSON.parse(data) as { created: number })
  const expected = expectedOf(JSON.parse(text) as object, calls) as {
    choices: { index: number; delta: { role?: string } }[]
    created: number
  } | null
  if (expected !== null) {
    before.created ??= expected.created
    expected.created = before.created
  }
  if (given.some(({ created }) => created !== before.created)) return 'a different time'
  const roles = (expected?.choices ?? []).filter(({ index, delta }) => {
    const isNew = !begun.has(index)
    begun.add(index)
    return isNew && delta.role === undefined
  })
  if (given.some((one) => !isChunk.Check(one))) return `no chunk: ${JSON.stringify(given)}`
  const last = expected === null ? null : (given.pop() ?? null)
  if (!isSame(last, expected)) return `got ${JSON.stringify(last)} for ${JSON.stringify(expected)}`
  return given.length === roles.length ? null : `${given.length} events before it`
}

function isSame(one: unknown, other: unknown): boolean {
  return sorted(one) === sorted(other)
}

function sorted(value: unknown): string {
  return JSON.stringify(value, (name, one: unknown) => {
    // Arguments that came as an object have the spaces and the escapes of the provider.
    if (name === 'arguments' && typeof one === 'string' && one.startsWith('{'))
      return JSON.parse(one) as object
    return typeof one === 'object' && one !== null && !Array.isArray(one)
      ? Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1)))
      : one
  })
}

t.test('random events are passed on with the values that a parser reads from them', async (t) => {
  const seed = Math.floor(Math.random() * 2 ** 32)
  const random = randomFrom(seed)
  for (let nth = 0; nth < 300; nth++) {
    const stream = streamed()
    const before = { begun: new Set<number>(), calls: new ExpectedCalls(), created: null }
    const one = randomEvent(random)
    for (let at = 0; at < 10; at++) {
      // Most events of a stream begin as the one before them.
      const event = random() < 0.5 ? one : randomEvent(random)
      const text = written(event, random)
      const problem = compare(text, stream, before)
      if (problem !== null) throw new Error(`seed ${seed}, stream ${nth}, event ${at}: ${problem}: ${text}`)
    }
  }
  t.pass(`seed ${seed}`)
})

function mutated(bytes: Buffer, random: Random): Buffer {
  const place = (): number => Math.floor(random() * bytes.length)
  switch (Math.floor(random() * 5)) {
    case 0:
      return Buffer.concat([bytes.subarray(0, place()), bytes.subarray(place())])
    case 1:
      return bytes.subarray(0, place())
    case 2: {
      const made = Buffer.from(bytes)
      made[place()] = Math.floor(random() * 256)
      return made
    }
    case 3: {
      const made = Buffer.from(bytes)
      for (let count = 0; count < 4; count++)
        made[place()] = '{}[]",:\\n0 \n'.charCodeAt(Math.floor(random() * 12))
      return made
    }
    default:
      return bytes
  }
}

/** Whether an event of the bytes ends a choice, as a parser reads it. */
function endsChoice(bytes: Buffer): boolean {
  return /"finish_reason"|\\u/.test(bytes.toString('latin1'))
}

t.test('mutated streams never throw, and are complete only after a finish reason', async (t) => {
  const seed = Math.floor(Math.random() * 2 ** 32)
  const random = randomFrom(seed)
  let wholes = 0
  for (let nth = 0; nth < 3_000; nth++) {
    const events = Array.from({ length: 3 }, () => written(randomEvent(random), random))
    const bytes = mutated(streamOf(events), random)
    const stream = streamed()
    const cut = Math.floor(random() * bytes.length)
    const given = [bytes.subarray(0, cut), bytes.subarray(cut)].flatMap((part) =>
      dataOf(stream.read(part).events),
    )
    const ended = new Map<number, boolean>()
    for (const data of given) {
      const { choices } = JSON.parse(data) as { choices: { index: number; finish_reason: string | null }[] }
      for (const { index, finish_reason: finish } of choices)
        ended.set(index, finish !== null || ended.get(index) === true)
    }
    const isWhole = stream.end() === null
    if (isWhole) wholes++
    if (isWhole && (ended.size === 0 || ![...ended.values()].every(Boolean) || !endsChoice(bytes)))
      throw new Error(`seed ${seed}, stream ${nth}: ${bytes.toString('latin1')}`)
  }
  t.ok(wholes > 15, `seed ${seed}: ${wholes} of them were whole`)
})
