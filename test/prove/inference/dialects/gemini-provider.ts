/** Google's Gemini as a provider, for the proofs. No caller speaks it. */
import type { FakeEvent } from '../../../support/inference/fake-stream.ts'
import { geminiEvents } from '../../../support/inference/gemini/fake-gemini.ts'
import { AROUND, objectOf, type ProviderSide } from './proved-dialect.ts'

interface Part {
  readonly text?: unknown
  readonly thought?: unknown
}

interface Candidate {
  readonly content?: { readonly parts?: readonly (Part | null)[] } | null
  readonly finishReason?: unknown
}

const HEAD = { modelVersion: 'gemini-2026', responseId: 'gemini-0001' }
const PROMPT_TOKENS = 9
const OUTPUT_TOKENS = 4
const SIGNED = { text: '', thoughtSignature: 'CpcBAVKqy1/8=' }

/** A chunk with these parts. @param tokens of the answer so far */
function chunk(parts: readonly object[], tokens: number, finish?: string): object {
  const reported = { promptTokenCount: PROMPT_TOKENS, ...(tokens > 0 && { candidatesTokenCount: tokens }) }
  return {
    candidates: [{ content: { parts, role: 'model' }, ...(finish && { finishReason: finish }), index: 0 }],
    usageMetadata: { ...reported, totalTokenCount: PROMPT_TOKENS + tokens },
    ...HEAD,
  }
}

const CALLS = [
  { name: 'f', args: { city: 'Oslo', at: { x: [1, null, 'é'] } } },
  { name: 'g', args: {} },
]
const CODE = { executableCode: { language: 'PYTHON', code: 'print(1)' } }

/** Streams as Google's models, and servers that copy its form, send them. */
const RECORDED: Readonly<Record<string, readonly FakeEvent[]>> = {
  google: geminiEvents({ words: ['Hi', ' there'] }),
  'google, thoughts and tools': geminiEvents({ thoughts: ['Hm', ' é'], words: ['Hi there'], calls: CALLS }),
  'google, a part that is not read': eventsOf([
    chunk([CODE], 0),
    chunk([{ text: 'Hi' }, { text: ' there', thought: false }], 2, 'STOP'),
  ]),
  'a server that tells the end in each chunk': eventsOf([
    chunk([{ text: 'Hi' }], 1, 'STOP'),
    chunk([{ text: ' there' }], 2, 'STOP'),
  ]),
  'a small server': eventsOf([
    { candidates: [{ content: { parts: [{ text: 'Hi there' }] } }] },
    { candidates: [{ content: {}, finishReason: 'MAX_TOKENS' }], usageMetadata: null },
  ]),
}

export const gemini: ProviderSide = {
  protocol: 'gemini',
  facts: { protocol: 'google', speaks: ['gemini'] },
  streamOf: (words) =>
    eventsOf([
      chunk([{ text: '' }], 0),
      ...words.map((text, nth) => chunk([{ text }], nth + 1)),
      chunk([SIGNED], OUTPUT_TOKENS, 'STOP'),
    ]),
  placesOf: ({ length }) => ({
    ...{ begin: 0, firstOutput: 1, finish: length + 1, usage: length + 1, terminator: null },
  }),
  recorded: RECORDED,
  endsInOrder: true,
  judge(events) {
    let [text, isFinished] = ['', false]
    for (const { name, data } of events) {
      const trimmed = data.replaceAll(AROUND, '')
      if (name === 'error') return { text, isFinished: false }
      if (trimmed === '' || trimmed === '[DONE]') continue
      const reported = objectOf(trimmed)
      if (reported === null || (reported['error'] ?? null) !== null) return { text, isFinished: false }
      const [candidate] = Array.isArray(reported['candidates'])
        ? (reported['candidates'] as (Candidate | null)[])
        : []
      text += textOf(candidate?.content?.parts)
      isFinished ||= typeof candidate?.finishReason === 'string' && candidate.finishReason !== ''
    }
    return { text, isFinished }
  },
}

function eventsOf(chunks: readonly object[]): readonly FakeEvent[] {
  return chunks.map((one) => ({ data: JSON.stringify(one) }))
}

function textOf(parts: readonly (Part | null)[] | undefined): string {
  if (!Array.isArray(parts)) return ''
  const stated = parts
    .filter((part: Part | null) => part?.thought !== true)
    .map((part: Part | null) => part?.text)
  return stated.filter((text) => typeof text === 'string').join('')
}
