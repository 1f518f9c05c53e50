/** What a translated stream gives, in whatever pieces it is read. */
import type { Test } from 'tap'
import type { Failure } from '../../../src/schemas/failures.ts'
import type { WrittenPart, PartStream } from '../../../src/dialects/parts.ts'

type State = Pick<
  PartStream,
  'hasOutput' | 'isDone' | 'usage' | 'outputBytes' | 'finishReason' | 'upstreamId'
>

/** The state of a stream after its last byte, and its whole output. */
export interface PartSummary extends State {
  readonly parts: readonly WrittenPart[]
  readonly failure: Failure | null
  readonly end: Failure | null
}

export function partsOf(stream: PartStream, pieces: readonly Uint8Array[]): PartSummary {
  let failure: Failure | null = null
  const parts = pieces.flatMap((piece) => {
    const own = Uint8Array.from(piece)
    const read = stream.read(own)
    // The bytes of a read belong to the connection again.
    own.fill(0x21)
    failure ??= read.failure
    return read.parts
  })
  const { hasOutput, isDone, usage, finishReason, upstreamId } = stream
  const end = stream.end()
  if (end === null) parts.push(...(stream.finalParts ?? []))
  const { outputBytes } = stream
  return { parts, failure, end, hasOutput, isDone, usage, outputBytes, finishReason, upstreamId }
}

/**
 * Reads a stream in single bytes, and cut in two at each byte.
 * @param wholeAt a stream that ends at an earlier byte is not whole
 */
export function samePartsWhereverCut(
  t: Test,
  open: () => PartStream,
  { bytes, wholeAt }: { readonly bytes: Buffer; readonly wholeAt: number },
): void {
  const whole = partsOf(open(), [bytes])
  const singly = Array.from(bytes, (byte) => Uint8Array.of(byte))
  t.same(partsOf(open(), singly), whole, 'single bytes')
  const expected = JSON.stringify(whole)
  for (let at = 0; at <= bytes.length; at++) {
    const cut = partsOf(open(), [bytes.subarray(0, at), bytes.subarray(at)])
    if (JSON.stringify(cut) !== expected) t.same(cut, whole, `cut at ${at}`)
  }
  const ends = Array.from(
    { length: wholeAt },
    (_, at) => partsOf(open(), [bytes.subarray(0, at)]).end?.name ?? `whole at ${at}`,
  )
  t.same([...new Set(ends)], ['upstream_failed'])
}

/** Parts without the places where a provider cut its texts. */
export function joinedParts(parts: readonly WrittenPart[]): readonly WrittenPart[] {
  const joined: WrittenPart[] = []
  for (const part of parts) {
    const last = joined.at(-1)
    const isSame =
      last !== undefined &&
      'text' in last &&
      'text' in part &&
      last.kind === part.kind &&
      'isSummary' in last === 'isSummary' in part
    if (isSame) joined[joined.length - 1] = { ...last, text: last.text + part.text }
    else joined.push(part)
  }
  return joined
}
