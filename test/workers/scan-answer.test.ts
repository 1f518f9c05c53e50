import { execFileSync } from 'node:child_process'
import t from 'tap'
import { USAGE_BYTES_MAX } from '../../src/schemas/models/provider-limits.ts'
import { scanAnswer, takeAnswer } from '../../src/workers/scan-answer.ts'
import { randomAnswer, randomFrom } from '../support/embeddings/random-answers.ts'
import { disagreement } from '../support/embeddings/scan-oracle.ts'
import { plainEnvironment } from '../support/load/load.ts'

const itemAt = (index: number): string => `{"object":"embedding","index":${index},"embedding":[0.5,-1e-3]}`
const ITEM = itemAt(0)
const NEXT = itemAt(1)

t.test(
  'the scan agrees with JSON.parse on random answers and leaves every odd one to the parser',
  async (t) => {
    const seed = Math.floor(Math.random() * 2 ** 32)
    const random = randomFrom(seed)
    for (let nth = 0; nth < 1_000; nth++) {
      const answer = randomAnswer(random)
      const problem = disagreement(answer)
      if (problem !== null) t.fail(`seed ${seed}, answer ${nth}: ${problem}: ${answer.bytes.toString()}`)
    }
    t.pass(`seed ${seed}`)
  },
)

t.test('without SIMD support each byte is read by itself, with the same result', async (t) => {
  const code = `
    const at = (path) => new URL(path, ${JSON.stringify(import.meta.url)}).href
    const { SCAN_CODE } = await import(at('../../src/workers/scan-code.js'))
    const { randomAnswer, randomFrom } = await import(at('../support/embeddings/random-answers.js'))
    const { disagreement } = await import(at('../support/embeddings/scan-oracle.js'))
    const random = randomFrom(11)
    const problems = Array.from({ length: 300 }, () => disagreement(randomAnswer(random)))
    console.log(JSON.stringify([WebAssembly.validate(SCAN_CODE), ...problems.filter((one) => one !== null)]))`
  const args = ['--no-enable-sse4-1', '--input-type=module', '-e', code]
  const printed = execFileSync(process.execPath, args, { env: plainEnvironment(), encoding: 'utf8' })
  t.same(JSON.parse(printed), [process.arch !== 'x64'])
})

t.test('spans cover the values and nothing else', async (t) => {
  const text = ` {"id":"x","data" : [${ITEM}, ${NEXT}] ,"usage":{"prompt_tokens":3},"model":"m"} `
  const spans = scanAnswer(Buffer.from(text))
  const cut = (span: { start: number; end: number } | null | undefined): string =>
    span ? text.slice(span.start, span.end) : ''
  t.equal(cut(spans?.data), `[${ITEM}, ${NEXT}]`)
  t.equal(cut(spans?.usage), '{"prompt_tokens":3}')
  t.equal(spans?.count, 2)
  t.equal(spans?.encoding, 'float')
})

t.test('reads the same usage figures as a parser: the last of two, any number, nothing else', async (t) => {
  const usages = [
    '{}',
    '{"prompt_tokens":12,"total_tokens":345}',
    '{"prompt_tokens" : 12\n,"x":{"prompt_tokens":9},"total_tokens":0}',
    '{"prompt_tokens":1,"prompt_tokens":2}',
    '{"prompt_tokens":1.5,"prompt_tokens":2}',
    '{"prompt_tokens":-0,"total_tokens":1e2}',
    '{"total_tokens":123456789012345}',
    '{"total_tokens":1234567890123456789}',
    '{"total_tokens":1,"__proto__":{"prompt_tokens":3}}',
    '{"prompt_tokens":null}',
    '{"prompt_tokens":"8"}',
    '{"prompt_tokens":8,"total_tokens":[8]}',
  ]
  for (const usage of usages) {
    const answer = Buffer.from(`{"data":[${ITEM}],"usage":${usage}}`)
    const { prompt_tokens: prompt, total_tokens: total } = JSON.parse(usage) as Record<string, unknown>
    const areNumbers = [prompt, total].every((one) => one === undefined || typeof one === 'number')
    const taken = takeAnswer({ answer, encoding: 'float', count: 1 })
    if (!areNumbers) t.equal(taken, null, usage)
    else t.match(taken, { promptTokens: prompt ?? null, totalTokens: total ?? null }, usage)
  }
  for (const usage of [
    '{"prompt_tokens":01}',
    '{"prompt_tokens":1 2}',
    '{"prompt_tokens":1]}',
    '{"prompt_tokens":1',
  ])
    t.equal(scanAnswer(Buffer.from(`{"data":[${ITEM}],"usage":${usage}}`)), null, usage)
})

t.test('usage inside a string or a nested object is not the usage', async (t) => {
  const text = `{"note":"\\\\\\"usage\\":{\\"prompt_tokens\\":9}","data":[{"object":"embedding","x":{"usage":{"prompt_tokens":8}},"index":0,"embedding":[1]}]}`
  t.equal(scanAnswer(Buffer.from(text))?.usage, null)
})

t.test('an answer with vectors in two encodings is left to the parser', async (t) => {
  const text = `{"data":[${ITEM},{"object":"embedding","index":1,"embedding":"AAAA"}]}`
  t.equal(scanAnswer(Buffer.from(text)), null)
})

t.test(
  'every index of a long answer is read, and an index that is out of order leaves it to the parser',
  async (t) => {
    const items = Array.from({ length: 120 }, (_, at) => itemAt(at))
    const scanOf = (all: readonly string[]) => scanAnswer(Buffer.from(`{"data":[${all.join(',')}]}`))
    t.equal(scanOf(items)?.count, 120)
    t.equal(scanOf(items.with(100, itemAt(10))), null)
    t.equal(scanOf(items.with(0, '{"object":"embedding","index":null,"embedding":[1]}')), null)
    t.equal(scanOf(items.with(119, '{"object":"embedding","embedding":[1]}')), null)
    t.equal(scanOf(items.with(1, itemAt(2)).with(2, itemAt(1))), null)
  },
)

t.test('a view into a larger buffer is scanned by its own offsets', async (t) => {
  const text = `{"data":[${ITEM}]}`
  const view = new Uint8Array(Buffer.from(`garbage${text}garbage`)).subarray(7, 7 + text.length)
  t.same(scanAnswer(view)?.data, { start: 8, end: text.length - 1 })
})

t.test('accepts floats of every length at every place in the buffer', async (t) => {
  for (let digits = 1; digits <= 17; digits++) {
    const values = [0.123456789012345678, -1 / 3, 5e-7, 1e-38, 12345.678]
    const numbers = values.map((value) => value.toPrecision(digits))
    const text = `${' '.repeat(digits % 5)}{"data":[{"object":"embedding","index":0,"embedding":[${numbers.join(', ')}]}]}`
    t.equal(scanAnswer(Buffer.from(text))?.count, 1, text)
  }
})

t.test('bytes are copied into the Wasm memory about once, however short the vectors are', async (t) => {
  const item = (index: number): string =>
    `{"object":"embedding","index":${index},"embedding":[${'-0.0123456,'.repeat(16)}0.5]}`
  const answer = Buffer.from(`{"data":[${Array.from({ length: 2_000 }, (_, at) => item(at)).join(',')}]}`)
  const { set } = Uint8Array.prototype
  let copied = 0
  Uint8Array.prototype.set = function (this: Uint8Array, from: ArrayLike<number>, at?: number) {
    copied += from.length
    set.call(this, from, at)
  }
  const spans = scanAnswer(answer)
  Uint8Array.prototype.set = set
  t.equal(spans?.count, 2_000)
  t.ok(copied <= 1.1 * answer.length, `${copied} of ${answer.length}`)
  const at = answer.lastIndexOf('-0.01')
  t.equal(
    scanAnswer(Buffer.concat([answer.subarray(0, at), Buffer.from('x'), answer.subarray(at + 1)])),
    null,
  )
})

t.test('leaves costly answers to a short job: long usage, white space, long strings', async (t) => {
  const usage = `{"prompt_tokens":1,"more":[${'1,'.repeat(USAGE_BYTES_MAX / 2)}1]}`
  t.equal(scanAnswer(Buffer.from(`{"data":[${ITEM}],"usage":${usage}}`)), null)
  const gaps = [
    '{"data":_[ITEM]}',
    '{"data":[_ITEM]}',
    '{"data":[ITEM]_}',
    '_{"data":[ITEM]}',
    '{_"data":[ITEM]}',
  ]
  for (const gap of gaps) {
    const text = (spaces: number): Buffer =>
      Buffer.from(gap.replace('_', ' '.repeat(spaces)).replace('ITEM', ITEM))
    t.equal(scanAnswer(text(64))?.count, 1)
    t.equal(scanAnswer(text(65)), null, gap)
  }
  t.equal(scanAnswer(Buffer.from(`{"data":[${ITEM}],"x":"${'y'.repeat(5_000)}"}`)), null)
})

t.test('the scan stops at the first item above the requested number', async (t) => {
  const text = `{"data":[${ITEM},${NEXT},${itemAt(2)} and then what nobody looks at`
  // Too long for one copy: the copy of a whole answer reads each of its bytes.
  const answer = Buffer.from(text.padEnd(100_000))
  let reads = 0
  const watched = new Proxy(answer, {
    get(bytes, name) {
      if (typeof name === 'string' && Number(name) > 2 * ITEM.length + 20) reads++
      const value: unknown = Reflect.get(bytes, name, bytes)
      return typeof value === 'function' ? (value.bind(bytes) as unknown) : value
    },
  })
  t.equal(takeAnswer({ answer: watched, encoding: 'float', count: 2 }), null)
  t.ok(reads < 4)
})
