/** Chunks of Gemini of which any member is anything. */
import fc from 'fast-check'
import t from 'tap'
import { GeminiPartStream, geminiWhole } from '../../../src/dialects/gemini/parts.ts'
import { joinedParts } from '../../support/inference/cut-parts.ts'
import { bodyOf } from '../../support/inference/fake-stream.ts'
import { orNull } from '../../support/must.ts'
import type { WrittenPart } from '../../../src/dialects/parts.ts'
import { failuresOfEvents } from '../../../src/server/upstream/provider-failure.ts'

const CHUNK = {
  candidates: [
    {
      content: {
        role: 'model',
        parts: [
          { text: 'Hm', thought: true, thoughtSignature: 'S1' },
          { text: 'Hi', thoughtSignature: 'S2' },
          { functionCall: { name: 'f', args: { a: 1 } }, thoughtSignature: 'S3' },
        ],
      },
      finishReason: 'STOP',
      index: 0,
    },
  ],
  promptFeedback: { blockReason: 'SAFETY' },
  usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 4, thoughtsTokenCount: 1, totalTokenCount: 14 },
  responseId: 'r',
  error: null,
}

/** Paths of all members, at every depth. */
function pathsOf(value: unknown, path: readonly string[] = []): readonly (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [path]
  return [path, ...Object.entries(value).flatMap(([name, member]) => pathsOf(member, [...path, name]))]
}

function replaced(value: unknown, [name, ...rest]: readonly string[], put: unknown): unknown {
  if (name === undefined) return put
  const copy: unknown = structuredClone(value)
  const member = Reflect.get(copy as object, name) as unknown
  Reflect.set(copy as object, name, replaced(member, rest, put))
  return copy
}

const odd = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom(null, '', -1, 0.5, [], {}, [null], 'x'.repeat(300)),
)

/** What every reader of parts counts on. */
function isSound(parts: readonly WrittenPart[]): boolean {
  return parts.every((part, at) => {
    const before = parts[at - 1]
    if (part.kind === 'arguments') return before?.kind === 'tool' && isObjectText(part.text)
    if (part.kind === 'finish') return at === parts.length - 1
    return part.kind !== 'text' || part.text !== ''
  })
}

function isObjectText(json: string): boolean {
  return json.startsWith('{') && typeof JSON.parse(json) === 'object'
}

t.test(
  'a chunk with any two members replaced gives valid parts or a failure, never an exception',
  async (t) => {
    const path = fc.constantFrom(...pathsOf(CHUNK))
    const failures = new Set<string>()
    fc.assert(
      fc.property(path, odd, path, odd, (one, first, two, second) => {
        const made = replaced(CHUNK, one, first)
        const found = pathsOf(made).some((known) => known.join('/') === two.join('/'))
        const json = JSON.stringify(found ? replaced(made, two, second) : made)
        const stream = new GeminiPartStream(failuresOfEvents({ credential: '', host: '' }))
        const { parts } = stream.read(bodyOf([{ data: json }]))
        const failure = stream.end()
        if (failure !== null) failures.add(failure.name)
        const whole = orNull(geminiWhole(Buffer.from(json)))
        const all = failure === null ? [...parts, ...(stream.finalParts ?? [])] : parts
        return (
          isSound(all) &&
          (whole === null) === (failure !== null) &&
          (whole === null || same(joinedParts(whole.parts), joinedParts(all)))
        )
      }),
      { numRuns: 1_000 },
    )
    t.ok(failures.has('upstream_invalid'))
    for (const name of failures) t.match(name, /^upstream_/)
  },
)

/** But for ids of calls, which are new where the answer has none. */
function same(one: unknown, other: unknown): boolean {
  return withoutIds(one) === withoutIds(other)
}

function withoutIds(parts: unknown): string {
  return JSON.stringify(parts).replace(/call_\d+_[0-9a-f]+/g, '')
}
