/** Streamed and whole answers of each protocol are the same to the clients of each dialect. D5. */
import fc from 'fast-check'
import t from 'tap'
import { signatureOf } from '../../../src/dialects/prompt/signatures.ts'
import { DIALECTS, type Dialect } from '../../../src/schemas/inference/text-request.ts'
import { joinedParts, partsOf } from '../../support/inference/cut-parts.ts'
import { FAILURE_OF } from '../../support/inference/provider-chunks.ts'
import { naturalOf, spacedMessages, WRITTEN_PARTS } from '../../support/inference/random-parts.ts'
import { bothOf, streamOfParts, wholeOfParts } from '../../support/inference/written-answers.ts'
import { orNull } from '../../support/must.ts'
import type { WrittenPart } from '../../../src/dialects/parts.ts'
import { PART_PROTOCOLS } from '../../../src/dialects/translate.ts'

const RUNS = { numRuns: 50 }

function readBoth(protocol: Dialect, parts: readonly WrittenPart[], cut: number) {
  const { stream, whole } = PART_PROTOCOLS[protocol]
  const bytes = streamOfParts(protocol, parts)
  const at = cut % bytes.length
  const read = partsOf(stream(FAILURE_OF), [bytes.subarray(0, at), bytes.subarray(at)])
  return { read, whole: orNull(whole(Buffer.from(JSON.stringify(wholeOfParts(protocol, parts))))) }
}

for (const protocol of DIALECTS)
  t.test(`${protocol}: clients of every dialect get the same content, streamed or whole`, async (t) => {
    await fc.assert(
      fc.asyncProperty(WRITTEN_PARTS, fc.nat(), async (made, cut) => {
        const { read, whole } = readBoth(protocol, naturalOf(protocol, made), cut)
        t.equal(read.end, null)
        t.same(joinedParts(read.parts), joinedParts(whole?.parts ?? []))
        for (const name of ['usage', 'outputBytes', 'finishReason'] as const)
          t.same(read[name], whole?.[name])
        for (const dialect of DIALECTS) {
          const answer = wholeOfParts(dialect, whole?.parts ?? [])
          const { put, stated } = await bothOf(dialect, streamOfParts(dialect, read.parts), answer)
          t.hasStrict({ ...put, content: put['content'] ?? '' }, stated)
        }
      }),
      RUNS,
    )
  })

t.test('the content of messages and responses reads back as it was written', async (t) => {
  for (const protocol of ['messages', 'responses'] as const)
    fc.assert(
      fc.property(WRITTEN_PARTS, fc.nat(), (made, cut) => {
        const { read } = readBoth(protocol, made, cut)
        const kept = (parts: readonly WrittenPart[]): readonly unknown[] =>
          joinedParts(parts.filter(({ kind }) => kind !== 'finish').map(plain))
        const given = protocol === 'responses' ? spacedMessages(made) : made
        t.same(kept(read.parts.flatMap(carriedBy)), kept(withArguments(given)))
      }),
      RUNS,
    )
})

/** A signature as the caller of the answer reads it; nothing where the reasoning has none. */
function carriedBy(part: WrittenPart): readonly WrittenPart[] {
  if (part.kind !== 'signature') return [part]
  const { signature, of } = part
  const carried = signatureOf(signature.data, { format: signature.format, of })
  return carried === null ? [] : [{ ...part, ...carried }]
}

/** Neither form distinguishes a summary from other reasoning, and messages has no refusals. */
function plain(part: WrittenPart): WrittenPart {
  if (part.kind === 'refusal') return { ...part, kind: 'text' }
  return part.kind === 'reasoning' ? { kind: 'reasoning', choice: 0, text: part.text } : part
}

/** A call without arguments has an empty object of them. */
function withArguments(parts: readonly WrittenPart[]): readonly WrittenPart[] {
  return parts.flatMap((part, at): readonly WrittenPart[] =>
    part.kind === 'tool' && parts[at + 1]?.kind !== 'arguments'
      ? [part, { kind: 'arguments', choice: 0, text: '{}' }]
      : [part],
  )
}
