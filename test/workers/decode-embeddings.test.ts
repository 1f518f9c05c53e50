import t from 'tap'
import fc from 'fast-check'
import { SCANNED_INLINE_BYTES_MAX } from '../../src/schemas/models/provider-limits.ts'
import {
  PARSED_MARKS_MAX,
  PARSED_NUMBERS_MAX,
  decodeEmbeddings,
} from '../../src/workers/decode-embeddings.ts'

type Protocol = 'openai' | 'cohere' | 'google'

function decode(answer: unknown, protocol: Protocol = 'openai', encoding: 'float' | 'base64' = 'float') {
  const bytes = new TextEncoder().encode(typeof answer === 'string' ? answer : JSON.stringify(answer))
  const out = decodeEmbeddings({ protocol, answer: bytes, encoding, count: countOf(bytes) })
  return out.ok
    ? {
        ...out,
        data: JSON.parse(new TextDecoder().decode(out.data)) as { embedding: unknown; index: number }[],
      }
    : out
}

/** Vectors in an answer of any protocol; 1 for what has none. */
function countOf(bytes: Uint8Array): number {
  try {
    const text = new TextDecoder().decode(bytes)
    const { data, embeddings } = JSON.parse(text) as Record<string, { float?: unknown[] }>
    const list: unknown = data ?? embeddings?.float ?? embeddings
    return Array.isArray(list) && list.length > 0 ? list.length : 1
  } catch {
    return 1
  }
}

const vectors = fc.array(
  fc.array(fc.float({ noNaN: true, noDefaultInfinity: true }), { minLength: 1, maxLength: 8 }),
  { minLength: 1, maxLength: 4 },
)

t.test('float and base64 output for one answer agree, whichever encoding the provider sent', async (t) => {
  fc.assert(
    fc.property(vectors, (wanted) => {
      const floats = {
        data: wanted.map((embedding, index) => ({ index, embedding: embedding.map((value) => value + 0) })),
      }
      const packed = {
        data: wanted.map((embedding, index) => ({
          index,
          embedding: Buffer.from(new Float32Array(embedding).buffer).toString('base64'),
        })),
      }
      const all = [floats, packed].flatMap((answer) => [decode(answer), decode(answer, 'openai', 'base64')])
      return all.every(
        (out) => out.ok && out.data.every(({ embedding }, at) => sameVector(embedding, wanted[at] ?? [])),
      )
    }),
  )
  t.pass()
})

function sameVector(embedding: unknown, wanted: readonly number[]): boolean {
  const bytes = typeof embedding === 'string' ? Buffer.from(embedding, 'base64') : null
  const length = bytes === null ? (embedding as readonly number[]).length : bytes.length / 4
  const at = (nth: number): number =>
    bytes === null ? ((embedding as readonly number[])[nth] ?? NaN) : bytes.readFloatLE(nth * 4)
  return length === wanted.length && wanted.every((value, nth) => at(nth) === value)
}

t.test('items are sorted by their index, whatever order they arrived in', async (t) => {
  const out = decode({
    data: [
      { index: 1, embedding: [1] },
      { index: 0, embedding: [0] },
    ],
  })
  t.same(out.ok && out.data.map(({ index, embedding }) => [index, embedding]), [
    [0, [0]],
    [1, [1]],
  ])
})

t.test('with invalid indexes the order stays unchanged', async (t) => {
  const out = decode({
    data: [
      { index: 5, embedding: [1] },
      { index: 5, embedding: [0] },
    ],
  })
  t.same(out.ok && out.data.map(({ embedding }) => embedding), [[1], [0]])
})

t.test('usage is found where each protocol has it', async (t) => {
  t.match(decode({ data: [{ embedding: [1] }], usage: { prompt_tokens: 3, total_tokens: 4 } }), {
    promptTokens: 3,
    totalTokens: 4,
  })
  const cohere = {
    embeddings: { float: [[1]] },
    meta: { billed_units: { input_tokens: 3, image_tokens: 100 } },
  }
  t.match(decode(cohere, 'cohere'), { promptTokens: 103, totalTokens: 103 })
  t.match(decode({ embeddings: [{ values: [1] }], usageMetadata: { promptTokenCount: 3 } }, 'google'), {
    promptTokens: 3,
    totalTokens: 3,
  })
  t.match(decode({ embeddings: [{ values: [1] }] }, 'google'), { promptTokens: null, totalTokens: null })
})

t.test('refuses answers without a list of vectors', async (t) => {
  const refused: readonly (readonly [unknown, Protocol])[] = [
    ['', 'openai'],
    ['<html>', 'openai'],
    ['{"data":[', 'openai'],
    ['\ufeff{"data":[{"embedding":[1]}]}', 'openai'],
    [[], 'openai'],
    [{}, 'openai'],
    [{ data: [] }, 'openai'],
    [{ data: [[1]] }, 'openai'],
    [{ data: [{ embedding: [] }] }, 'openai'],
    [{ data: [{ embedding: [1, null] }] }, 'openai'],
    [{ data: [{ embedding: ['1'] }] }, 'openai'],
    [{ data: [{ embedding: [1e39] }] }, 'openai'],
    ['{"data":[{"embedding":[1e999]}]}', 'openai'],
    [{ data: [{ embedding: 'AAA=' }] }, 'openai'],
    [{ data: [{ embedding: 'no base64!!!' }] }, 'openai'],
    [{ data: [{ embedding: 'AADAfw==' }] }, 'openai'],
    [{ embeddings: [[1]] }, 'cohere'],
    [{ embeddings: { float: [] } }, 'cohere'],
    [{ embeddings: [[1]] }, 'google'],
    [{ embedding: { values: [1] } }, 'google'],
  ]
  for (const [answer, protocol] of refused)
    t.match(decode(answer, protocol), { ok: false }, JSON.stringify(answer))
})

t.test('an answer too large for the loop passes through as the provider wrote it', async (t) => {
  const item = (at: number): string => `{"object":"embedding","index":${at},"embedding":[0.10,2E+0]}`
  const items = Array.from({ length: Math.ceil(SCANNED_INLINE_BYTES_MAX / item(0).length) }, (_, at) =>
    item(at),
  )
  const bytes = Buffer.from(`{"data":[${items.join(',')}],"usage":{"prompt_tokens":3}}`)
  const job = { protocol: 'openai', answer: bytes, count: items.length } as const
  const out = decodeEmbeddings({ ...job, encoding: 'float' })
  t.match(out, { ok: true, promptTokens: 3 })
  t.equal(out.ok && Buffer.from(out.data).toString(), `[${items.join(',')}]`)
  t.equal(decodeEmbeddings({ ...job, encoding: 'base64' }).ok, true)
  t.equal(decodeEmbeddings({ ...job, encoding: 'float', count: 1 }).ok, false)
})

t.test('an answer with more objects, lists and quotes than a thread holds is not parsed', async (t) => {
  const head = '{"embeddings":{"float":[[1]]},"pad":['
  const marks = (head.match(/[{["]/g) ?? []).length
  const answerOf = (lists: number): Buffer =>
    Buffer.concat([Buffer.from(head), Buffer.alloc(3 * lists - 1, '[],'), Buffer.from(']}')])
  const decoded = (lists: number) =>
    decodeEmbeddings({ protocol: 'cohere', answer: answerOf(lists), encoding: 'float', count: 1 }).ok
  t.equal(decoded(PARSED_MARKS_MAX - marks), true)
  t.equal(decoded(PARSED_MARKS_MAX - marks + 1), false)
})

t.test('numbers encoded in base64 count toward PARSED_NUMBERS_MAX', async (t) => {
  const answer = (floats: number) => ({ data: [{ embedding: Buffer.alloc(floats * 4).toString('base64') }] })
  t.equal(decode(answer(PARSED_NUMBERS_MAX + 3)).ok, false)
  t.equal(decode(answer(3)).ok, true)
})
