import t from 'tap'
import { GeminiPartStream, geminiUsageOf, geminiCount } from '../../../src/dialects/gemini/parts.ts'
import { bodyOf } from '../../support/inference/fake-stream.ts'
import { failuresOfEvents } from '../../../src/server/upstream/provider-failure.ts'

const figures = (prompt: number, answer: number, thoughts: number, cached = 0) => ({
  promptTokenCount: prompt,
  candidatesTokenCount: answer,
  thoughtsTokenCount: thoughts,
  cachedContentTokenCount: cached,
})

/** What Google writes, and the buckets that it stands for: input, read from a cache, output, reasoning. */
const ORACLE: readonly (readonly [object, readonly [number, number, number, number]])[] = [
  [{ promptTokenCount: 9, candidatesTokenCount: 4, totalTokenCount: 13 }, [9, 0, 4, 0]],
  [{ ...figures(9, 4, 6), totalTokenCount: 19 }, [9, 0, 4, 6]],
  [{ ...figures(9, 4, 6) }, [9, 0, 4, 6]],
  [{ ...figures(9, 10, 6), totalTokenCount: 19 }, [9, 0, 4, 6]],
  [{ ...figures(9, 10, 6), totalTokenCount: 25 }, [9, 0, 10, 6]],
  [{ ...figures(100, 4, 0, 64), totalTokenCount: 104 }, [36, 64, 4, 0]],
  [{ ...figures(100, 4, 0, 200), totalTokenCount: 104 }, [0, 100, 4, 0]],
  [{ ...figures(9, 4, 0), toolUsePromptTokenCount: 5, totalTokenCount: 18 }, [14, 0, 4, 0]],
  [{ promptTokenCount: 9, thoughtsTokenCount: 7, totalTokenCount: 16 }, [9, 0, 0, 7]],
  [{ promptTokenCount: 9, totalTokenCount: 9 }, [9, 0, 0, 0]],
  [{ promptTokenCount: 0 }, [0, 0, 0, 0]],
]

t.test('usage is sorted into buckets that do not overlap', async (t) => {
  for (const [reported, [input, cacheRead, output, reasoning]] of ORACLE) {
    const expected = { input, cacheRead, cacheWrite: 0, output, reasoning }
    t.same(geminiUsageOf(reported), expected, JSON.stringify(reported))
  }
})

t.test('audio and pictures are counted separately, and so is cached audio', async (t) => {
  const counts = (audio: unknown, image: unknown): readonly object[] => [
    { modality: 'AUDIO', tokenCount: audio },
    { modality: 'IMAGE', tokenCount: image },
    { modality: 'TEXT', tokenCount: 1 },
  ]
  const reported = (more: object): unknown => geminiUsageOf({ ...figures(100, 40, 0, 60), ...more })?.media
  const none = { audio: 0, image: 0, audioRead: 0, audioOutput: 0 }
  t.same(reported({ promptTokensDetails: counts(30, 10) }), { ...none, audio: 30, image: 10 })
  const cached = { promptTokensDetails: counts(30, 0), cacheTokensDetails: counts(20, 0) }
  t.same(reported(cached), { ...none, audio: 10, audioRead: 20 })
  t.same(reported({ cacheTokensDetails: counts(20, 5) }), { ...none, audioRead: 20 })
  t.same(reported({ candidatesTokensDetails: counts(99, 9) }), { ...none, audioOutput: 40 })
  t.same(reported({ toolUsePromptTokenCount: 7, toolUsePromptTokensDetails: counts(0, 7) }), {
    ...none,
    image: 7,
  })
  const odd = [null, 'x', {}, [null], [{ modality: 'AUDIO' }], counts(-1, '9')]
  for (const promptTokensDetails of odd) t.equal(reported({ promptTokensDetails }), undefined)
})

t.test('ignores figures that are not counts', async (t) => {
  const none = [null, [], 'a', {}, { candidatesTokenCount: 4 }, { promptTokenCount: null }]
  const odd = [-1, 0.5, '9', null, Number.MAX_SAFE_INTEGER].flatMap((figure) => [
    { promptTokenCount: figure, candidatesTokenCount: 4 },
    { promptTokenCount: 9, candidatesTokenCount: figure },
    { promptTokenCount: 9, thoughtsTokenCount: figure },
    { promptTokenCount: 9, cachedContentTokenCount: figure },
  ])
  for (const reported of [...none, ...odd]) t.equal(geminiUsageOf(reported), null, JSON.stringify(reported))
})

t.test('the last chunk with usage counts; usage without output is missing if output came', async (t) => {
  const answer = new GeminiPartStream(failuresOfEvents({ credential: '', host: '' }))
  const take = (chunk: object) => answer.read(bodyOf([{ data: JSON.stringify(chunk) }]))
  const text = { candidates: [{ content: { parts: [{ text: 'Hi' }] } }] }
  take({ ...text, usageMetadata: { promptTokenCount: 9 } })
  t.equal(answer.usage, null)
  take({ ...text, usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 4 } })
  take({ candidates: [{ finishReason: 'STOP' }] })
  t.match(answer.usage, { input: 9, output: 4 })
  take({ usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 5 } })
  t.match(answer.usage, { input: 9, output: 5 })
})

t.test('reports a token count in the form of messages', async (t) => {
  const counted = (json: string) => geminiCount(Buffer.from(json))
  t.equal(
    Buffer.from(counted('{"totalTokens":31,"cachedContentTokenCount":4}') ?? []).toString(),
    '{"input_tokens":31}',
  )
  for (const json of [
    '',
    '{',
    '[]',
    'null',
    '{}',
    '{"totalTokens":"31"}',
    '{"totalTokens":-1}',
    '{"totalTokens":1.5}',
  ])
    t.equal(counted(json), null, json)
})
