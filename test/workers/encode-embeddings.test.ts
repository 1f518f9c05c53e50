import t from 'tap'
import type { EmbeddingInput, EmbeddingPart } from '../../src/schemas/embeddings/embeddings.ts'
import { REWRITTEN_INPUTS_MAX, encodeEmbeddings } from '../../src/workers/encode-embeddings.ts'

function encode(
  protocol: 'cohere' | 'google',
  input: EmbeddingInput | Uint8Array,
  more: { dimensions?: number; inputType?: string } = {},
) {
  const out = encodeEmbeddings({
    protocol,
    upstreamModel: 'm',
    input,
    dimensions: more.dimensions ?? null,
    inputType: more.inputType ?? null,
  })
  return out.ok ? (JSON.parse(new TextDecoder().decode(out.body)) as Record<string, unknown>) : out.detail
}

const one = (part: EmbeddingPart): EmbeddingInput => [{ content: [part] }]
const image = (url: string): EmbeddingInput => one({ type: 'image_url', image_url: { url } })

t.test('cohere: texts are sent as texts, and the input type is document by default', async (t) => {
  const expected = { model: 'm', input_type: 'search_document', embedding_types: ['float'], texts: ['a'] }
  t.same(encode('cohere', 'a'), expected)
  t.same(encode('cohere', ['a', 'b'], { dimensions: 256, inputType: 'query' }), {
    ...expected,
    texts: ['a', 'b'],
    input_type: 'search_query',
    output_dimension: 256,
  })
  t.match(encode('cohere', 'a', { inputType: 'clustering' }), { input_type: 'clustering' })
})

t.test('google: one request for each input', async (t) => {
  const request = (text: string) => ({ model: 'models/m', content: { parts: [{ text }] } })
  t.same(encode('google', ['a', 'b']), { requests: [request('a'), request('b')] })
  t.match(encode('google', 'a', { inputType: 'search_document', dimensions: 9 }), {
    requests: [{ taskType: 'RETRIEVAL_DOCUMENT', outputDimensionality: 9 }],
  })
})

t.test('google: unknown input types are dropped, including names of Object properties', async (t) => {
  for (const inputType of ['constructor', '__proto__', 'something'])
    t.notMatch(JSON.stringify(encode('google', 'a', { inputType })), 'taskType')
})

t.test('google: media are sent inline with their type', async (t) => {
  const parts = (input: EmbeddingInput) =>
    (encode('google', input) as { requests: { content: { parts: unknown } }[] }).requests[0]?.content.parts
  t.same(parts(image('data:image/jpeg;base64,AAAA')), [
    { inlineData: { mimeType: 'image/jpeg', data: 'AAAA' } },
  ])
  t.same(parts(one({ type: 'input_audio', input_audio: { data: 'AAAA', format: 'mp3' } })), [
    { inlineData: { mimeType: 'audio/mpeg', data: 'AAAA' } },
  ])
  t.same(parts(one({ type: 'input_video', input_video: { data: 'AAAA' } })), [
    { inlineData: { mimeType: 'video/mp4', data: 'AAAA' } },
  ])
  t.same(parts(one({ type: 'input_file', input_file: { data: 'data:application/pdf;base64,AAAA' } })), [
    { inlineData: { mimeType: 'application/pdf', data: 'AAAA' } },
  ])
})

t.test('says why a protocol cannot carry an input', async (t) => {
  t.equal(encode('google', [1, 2]), 'The provider does not accept token lists.')
  t.equal(encode('cohere', [[1], [2]]), 'The provider does not accept token lists.')
  t.equal(
    encode('cohere', one({ type: 'input_audio', input_audio: { data: 'AAAA' } })),
    'The provider accepts only text and images.',
  )
  t.equal(
    encode('google', image('https://example.com/a.png')),
    'The provider accepts media only as base64 data URLs.',
  )
})

t.test('input may come as JSON bytes', async (t) => {
  t.same(encode('cohere', new TextEncoder().encode('["a","b"]')), encode('cohere', ['a', 'b']))
})

t.test('refuses to rewrite more inputs than their limit', async (t) => {
  const texts = (count: number): string[] => Array.from({ length: count }, () => 'a')
  t.match(encode('google', texts(REWRITTEN_INPUTS_MAX)), { requests: Array })
  t.match(encode('google', texts(REWRITTEN_INPUTS_MAX + 1)), /at most 65536 vectors/)
})
