/** What a provider's stream gives, in whatever pieces it is read. */
import type { Test } from 'tap'
import type { Failure } from '../../../src/schemas/failures.ts'
import type { ShownUsage, NativeStream } from '../../../src/dialects/parts.ts'

/** The streams of one dialect, as a test reads them. */
export interface ReadStreams<E> {
  readonly open: () => NativeStream
  /** Events of a caller's stream. */
  readonly eventsOf: (bytes: Uint8Array | null) => readonly E[]
  /** In the events that wait for the end; left out: the dialect has none such. */
  readonly shown?: ShownUsage
}

type State = Pick<
  NativeStream,
  'hasOutput' | 'isDone' | 'usage' | 'outputBytes' | 'finishReason' | 'upstreamId'
>

/** The state of a stream after its last byte, and its whole output. */
export interface StreamSummary<E> extends State {
  readonly events: readonly E[]
  readonly failure: Failure | null
  readonly end: Failure | null
}

export function summaryOf<E>(
  { open, eventsOf, shown }: ReadStreams<E>,
  pieces: readonly Uint8Array[],
): StreamSummary<E> {
  const stream = open()
  let failure: Failure | null = null
  const events = pieces.flatMap((piece) => {
    const own = Uint8Array.from(piece)
    const read = stream.read(own)
    // The bytes of a read belong to the connection again.
    own.fill(0x21)
    failure ??= read.failure
    return eventsOf(read.events)
  })
  const { hasOutput, isDone, usage, outputBytes, finishReason, upstreamId } = stream
  const end = stream.end()
  const last = shown !== undefined && isDone ? (stream.finalEvents?.withUsage(shown) ?? []) : []
  return {
    events: [...events, ...eventsOf(Buffer.concat(last))],
    failure,
    end,
    hasOutput,
    isDone,
    usage,
    outputBytes,
    finishReason,
    upstreamId,
  }
}

/**
 * Reads a stream in single bytes, and cut in two at each byte.
 * @param wholeAt a stream that ends at an earlier byte is not whole
 */
export function sameWhereverCut<E>(
  t: Test,
  streams: ReadStreams<E>,
  { bytes, wholeAt }: { readonly bytes: Buffer; readonly wholeAt: number },
): void {
  const whole = summaryOf(streams, [bytes])
  const singly = Array.from(bytes, (byte) => Uint8Array.of(byte))
  t.same(summaryOf(streams, singly), whole, 'single bytes')
  const expected = JSON.stringify(whole)
  for (let at = 0; at <= bytes.length; at++) {
    const cut = summaryOf(streams, [bytes.subarray(0, at), bytes.subarray(at)])
    if (JSON.stringify(cut) !== expected) t.same(cut, whole, `cut at ${at}`)
  }
  const ends = Array.from({ length: wholeAt }, (_, at) => {
    const stream = streams.open()
    stream.read(bytes.subarray(0, at))
    return stream.end()?.name ?? `whole at ${at}`
  })
  t.same([...new Set(ends)], ['upstream_failed'])
}
