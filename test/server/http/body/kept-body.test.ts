import t, { type Test } from 'tap'
import { INFERENCE_BODY_BYTES_MAX } from '../../../../src/schemas/inference/inference-limits.ts'
import { INLINE_JSON_BYTES_MAX } from '../../../../src/schemas/limits/limits.ts'
import type { TextRequest } from '../../../../src/schemas/inference/text-request.ts'
import type { HttpOptions } from '../../../../src/server/http/front.ts'
import type { Call } from '../../../../src/server/operations/define.ts'
import { AUTHORIZATION, openFront, operation, patient } from '../../../support/front.ts'
import { INLINE_JSON_VALUES_MAX } from '../../../../src/workers/json-outline.ts'

const MIB = 1024 * 1024
const headers = { authorization: AUTHORIZATION, 'content-type': 'application/json' }
/** A chat of so many bytes. */
const sized = (bytes: number): string => {
  const of = (text: string): string => `{"x":1,"model":"m","messages":[{"role":"user","content":"${text}"}]}`
  return of('y'.repeat(bytes - of('').length))
}

interface Held {
  readonly source: TextRequest['source']
  readonly answer: () => void
}

/** A front whose operation keeps the body of a chat until the test has seen it. */
async function open(t: Test, more: Partial<HttpOptions> = {}) {
  const waiting: ((held: Held) => void)[] = []
  const chat = operation({
    outlivesClient: true,
    input: { body: 'chat' },
    run(call: Call) {
      const { source } = call.body as TextRequest
      return new Promise((resolve) => {
        const answer = (): void => resolve({ ok: true, value: { kind: 'json', value: {} } })
        waiting.shift()?.({ source, answer })
      })
    },
  })
  const opened = await openFront(t, [chat], { timers: patient(), ...more })
  const post = (body: string): Promise<Response> =>
    fetch(`${opened.url}/api/v1/echo`, { method: 'POST', headers, body })
  const held = (): Promise<Held> => new Promise((resolve) => waiting.push(resolve))
  return { ...opened, post, held }
}

t.test('an operation holds the bytes of its caller, and they count until it ends', async (t) => {
  const { front, post, held } = await open(t)
  const values = `{${'"a":{},'.repeat(INLINE_JSON_VALUES_MAX)}"model":"m","messages":[{"role":"user","content":"x"}]}`
  for (const text of [
    sized(100),
    sized(100_000),
    sized(INLINE_JSON_BYTES_MAX),
    sized(INLINE_JSON_BYTES_MAX + 1),
    values,
    sized(INFERENCE_BODY_BYTES_MAX),
  ]) {
    const coming = held()
    const answer = post(text)
    const { source, answer: end } = await coming
    // The bytes that the loop only borrowed are gone by now.
    await new Promise(setImmediate)
    t.ok(Buffer.from(source.bytes).equals(Buffer.from(text)), `${text.length} bytes as they came`)
    t.ok(front.load.bodyBytes >= text.length, 'they count')
    end()
    t.equal((await answer).status, 200)
    while (front.load.calls > 0) await new Promise(setImmediate)
    t.equal(front.load.bodyBytes, 0, 'and no longer')
  }
})

t.test('released bytes no longer count, although the call continues', async (t) => {
  const { front, post, held } = await open(t)
  for (const bytes of [1_000, 100_000, 3 * MIB]) {
    const coming = held()
    const answer = post(sized(bytes))
    const { source, answer: end } = await coming
    source.release()
    source.release()
    t.same([source.bytes.length, front.load.bodyBytes, front.load.calls], [0, 0, 1])
    end()
    t.equal((await answer).status, 200)
    while (front.load.calls > 0) await new Promise(setImmediate)
    t.equal(front.load.bodyBytes, 0, 'nor twice')
  }
})

t.test('a small body is refused when a front has no room to keep it', async (t) => {
  const { front, post, held } = await open(t, { bodiesBytesMax: 2_000 })
  const coming = held()
  const first = post(sized(900))
  const { answer } = await coming
  const second = await post(sized(900))
  t.same([second.status, second.headers.get('retry-after')], [503, '1'])
  answer()
  t.equal((await first).status, 200)
  while (front.load.calls > 0) await new Promise(setImmediate)
  const again = held()
  const third = post(sized(900))
  ;(await again).answer()
  t.equal((await third).status, 200)
})
