/** Events of chat as providers stream them, and what a caller of Sluice has to get for them. */
import type { Random } from '../embeddings/random-answers.ts'
import { ExpectedCalls } from './bodies/expected-calls.ts'
import type { NativeHead } from '../../../src/dialects/parts.ts'
import { failuresOfEvents } from '../../../src/server/upstream/provider-failure.ts'

export const HEAD: NativeHead = {
  id: 'gen_01k0',
  model: 'maker/model-1',
  provider: 'maker',
  createdS: 1_795_312_800,
}
export const FAILURE_OF = failuresOfEvents({ credential: 'provider-key', host: 'api.maker.example' })

type Members = Record<string, unknown>

export function streamOf(events: readonly (object | string)[], lineEnd = '\n'): Buffer {
  const text = events.map((event) => `data: ${typeof event === 'string' ? event : JSON.stringify(event)}`)
  return Buffer.from(text.map((line) => line + lineEnd + lineEnd).join(''))
}

/** The data of each event of a caller's stream, which has no other lines. */
export function dataOf(events: Uint8Array | null): readonly string[] {
  if (events === null) return []
  const parts = Buffer.from(events).toString().split('\n\n')
  if (parts.pop() !== '') throw new Error('an event without an end')
  return parts.map((part) => {
    if (!part.startsWith('data: {') || part.includes('\n')) throw new Error(`no event: ${part}`)
    return part.slice('data: '.length)
  })
}

/**
 * What is passed on of an event that is parsed as a whole, by other means than the product's. Null: nothing.
 * @param calls of the events before it
 */
export function expectedOf(event: object, calls = new ExpectedCalls()): Members | null {
  const { usage: _, ...top } = { ...event } as Members
  if (!Array.isArray(top['choices']) || top['choices'].length === 0) return null
  if (typeof top['system_fingerprint'] !== 'string') delete top['system_fingerprint']
  if (top['error'] === null || top['error'] === false) delete top['error']
  const created = isCount(top['created']) ? top['created'] : HEAD.createdS
  const { id, model, provider } = HEAD
  const choices = top['choices'].map((choice: unknown, nth) => choiceOf(choice as Members, nth, calls))
  return { ...top, id, object: 'chat.completion.chunk', created, model, provider, choices }
}

function choiceOf({ usage: _, ...choice }: Members, nth: number, known: ExpectedCalls): Members {
  const reason = choice['finish_reason']
  const finish = typeof reason === 'string' && reason !== '' ? reason : null
  const native =
    finish !== null && !('native_finish_reason' in choice) ? { native_finish_reason: finish } : null
  const index = isCount(choice['index']) ? choice['index'] : nth
  return {
    ...choice,
    ...native,
    index,
    finish_reason: finish,
    delta: deltaOf({ ...(choice['delta'] as Members) }, (call) => known.shownOf(Number(index), call)),
  }
}

type ShownOf = (fragment: Parameters<ExpectedCalls['shownOf']>[1]) => number

function deltaOf(delta: Members, shownOf: ShownOf): Members {
  if (delta['role'] !== 'assistant') delete delta['role']
  for (const name of ['name', 'audio', 'images']) if (delta[name] === null) delete delta[name]
  for (const name of ['tool_calls', 'reasoning_details']) if (!Array.isArray(delta[name])) delete delta[name]
  const stated = delta['reasoning_content']
  const parts = Array.isArray(delta['content']) ? partsOf(delta['content']) : null
  if (parts !== null) delta['content'] = parts.text
  const thought = typeof stated === 'string' && stated !== '' ? stated : (parts?.thinking ?? '')
  if (thought !== '' && !('reasoning' in delta)) delta['reasoning'] = thought
  if (parts !== null && parts.thinking !== '' && !('reasoning_details' in delta))
    delta['reasoning_details'] = [{ type: 'reasoning.text', text: parts.thinking, index: 0 }]
  if (parts !== null && parts.images.length > 0 && !('images' in delta)) delta['images'] = parts.images
  const calls = delta['tool_calls']
  if (Array.isArray(calls)) {
    const objects = calls.filter((call) => typeof call === 'object' && call !== null && !Array.isArray(call))
    delta['tool_calls'] = objects.map((call: unknown) => toolOf({ ...(call as Members) }, shownOf))
  }
  return delta
}

/** The content of a list of parts: the one text that clients read, and the members next to it. */
function partsOf(list: readonly unknown[]): { text: string; thinking: string; images: readonly object[] } {
  const stated = { text: '', thinking: '', images: [] as object[] }
  for (const item of list) {
    if (typeof item === 'string') stated.text += item
    if (typeof item !== 'object' || item === null || Array.isArray(item)) continue
    const { type = 'text', text, thinking, image_url } = item as Members
    if (type === 'text' && typeof text === 'string') stated.text += text
    for (const thought of Array.isArray(thinking) ? (thinking as unknown[]) : [thinking])
      stated.thinking +=
        typeof thought === 'string' ? thought : String((thought as Members | null)?.['text'] ?? '')
    if (typeof image_url === 'object' && image_url !== null)
      stated.images.push({ type: 'image_url', image_url })
  }
  return stated
}

function toolOf(call: Members, shownOf: ShownOf): Members {
  const { name } = (call['function'] ?? {}) as Members
  call['index'] = shownOf({
    index: isCount(call['index']) ? Number(call['index']) : null,
    id: typeof call['id'] === 'string' ? call['id'] : '',
    isNamed: typeof name === 'string' && name !== '',
  })
  if (typeof call['id'] !== 'string') delete call['id']
  else call['type'] ??= 'function'
  if ('type' in call && (typeof call['type'] !== 'string' || call['type'] === '')) call['type'] = 'function'
  const called = call['function']
  if (typeof called !== 'object' || called === null || Array.isArray(called)) delete call['function']
  else {
    const named: Members = { ...called }
    for (const name of ['name', 'arguments']) if (named[name] === null) delete named[name]
    if (typeof named['arguments'] === 'object') named['arguments'] = JSON.stringify(named['arguments'])
    call['function'] = named
  }
  return call
}

function isCount(value: unknown): boolean {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < 1e12
}

const ABSENT = Symbol('absent')
const pick = <T>(random: Random, from: readonly T[]): T => from[Math.floor(random() * from.length)] as T

const TEXTS = [
  '',
  ' there',
  'é€😀',
  'a "b" \\ c\n',
  '\u0000\ud83d',
  '"usage":null',
  'data: [DONE]',
  '1e400',
  '}]}',
]
const USAGE = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 }

function members(random: Random, pools: Readonly<Record<string, readonly unknown[]>>): Members {
  const made: [string, unknown][] = []
  for (const [name, pool] of Object.entries(pools)) {
    const value = pick(random, pool)
    if (value !== ABSENT) made.push([name, typeof value === 'function' ? (value as () => unknown)() : value])
  }
  for (let at = made.length - 1; at > 0 && random() < 0.3; at--) {
    const other = Math.floor(random() * (at + 1))
    const [one, two] = [made[at], made[other]]
    if (one !== undefined && two !== undefined) [made[at], made[other]] = [two, one]
  }
  return Object.fromEntries(made)
}

/** An event with members missing, null, of other types and unknown, in any order, which can be passed on. */
export function randomEvent(random: Random): object {
  const text = () => pick(random, TEXTS)
  const call = (): unknown =>
    members(random, {
      index: [0, 0, 1, ABSENT, null, 'x', 7],
      id: ['call_1', 'call_2', 'call_3', ABSENT, ABSENT, null],
      type: ['function', ABSENT, null, '', 'custom'],
      function: [
        ABSENT,
        null,
        () =>
          members(random, {
            name: ['f', 'g', '', null, ABSENT],
            arguments: [text, null, ABSENT, { a: 'é"', b: [1] }],
          }),
      ],
    })
  const part = (): unknown =>
    pick(random, [
      () => ({ type: 'text', text: text() }),
      () => ({ text: text() }),
      () => ({ type: 'thinking', thinking: [{ type: 'text', text: text() }, text()], closed: true }),
      () => ({ thinking: text(), type: 'thinking' }),
      () => ({ type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } }),
      () => ({ type: 'reference', reference_ids: [1], text: text() }),
      () => ({ type: 'other', text: null, image_url: 'x' }),
      text,
      () => 7,
    ])()
  const parts = (): unknown => [part(), part(), part()].slice(Math.floor(random() * 4))
  const delta = (): unknown =>
    members(random, {
      role: ['assistant', ABSENT, ABSENT, null, ''],
      content: [text, text, ABSENT, null, parts],
      reasoning_content: [ABSENT, ABSENT, text, null],
      reasoning: [ABSENT, ABSENT, text],
      reasoning_details: [ABSENT, ABSENT, null, [], [{ type: 'reasoning.text', text: 'hm', index: 0 }]],
      refusal: [ABSENT, null],
      tool_calls: [ABSENT, ABSENT, null, [], () => [call(), call()]],
      audio: [ABSENT, ABSENT, null, { id: 'a', data: 'AA==' }],
      name: [ABSENT, ABSENT, null],
      extra: [ABSENT, { usage: { deep: [1, null] }, choices: null }],
    })
  const choice = (): unknown =>
    members(random, {
      index: [0, 0, 1, ABSENT, null],
      delta: [delta, delta, delta, null, ABSENT],
      logprobs: [ABSENT, null, { content: [] }],
      finish_reason: [null, null, ABSENT, 'stop', '', 'tool_calls'],
      native_finish_reason: [ABSENT, ABSENT, null, 'end_turn'],
      usage: [ABSENT, ABSENT, null, USAGE],
    })
  return members(random, {
    id: ['chatcmpl-1', 'chatcmpl-1', ABSENT, null, ''],
    object: ['chat.completion.chunk', ABSENT, '', null],
    created: [17, 17, ABSENT, 17.5, null, -1],
    model: ['maker-1', 'maker-1', ABSENT, null],
    provider: [ABSENT, ABSENT, 'other', null],
    system_fingerprint: [ABSENT, 'fp', null],
    service_tier: [ABSENT, 'default', null],
    choices: [() => [choice()], () => [choice()], () => [choice(), choice()], [], null, ABSENT],
    usage: [ABSENT, null, USAGE],
    error: [ABSENT, ABSENT, null],
    obfuscation: [ABSENT, 'xyz', '\u2028'],
  })
}

/**
 * Writes JSON as providers might: spaces, escapes of names and texts, members that come twice.
 * @param lineSpace a line end that may stand where a space may; an SSE stream needs `data: ` after it
 */
export function written(value: unknown, random: Random, lineSpace = ' '): string {
  const space = (): string => (random() < 0.9 ? '' : pick(random, [' ', '\t', '  ', lineSpace]))
  const string = (text: string, escapes: number): string =>
    random() < escapes
      ? `"${Array.from(text, (one) => [...one].flatMap(unitsOf).join('')).join('')}"`
      : JSON.stringify(text)
  const write = (one: unknown): string => {
    if (typeof one === 'string') return string(one, 0.05)
    if (Array.isArray(one))
      return `[${space()}${one.map((item) => write(item) + space()).join(`,${space()}`)}]`
    if (typeof one !== 'object' || one === null) return JSON.stringify(one)
    const pairs = Object.entries(one).map(
      ([name, of]) => `${string(name, 0.01)}${space()}:${space()}${write(of)}${space()}`,
    )
    if (random() < 0.01 && pairs.length > 0) pairs.unshift(pick(random, pairs))
    return `{${space()}${pairs.join(`,${space()}`)}}`
  }
  return write(value)
}

function unitsOf(character: string): readonly string[] {
  return character.split('').map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
