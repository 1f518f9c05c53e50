/** The framings in which one stream of events may come. */
import { bodyOf, type FakeEvent, type StreamPlan } from '../../../support/inference/fake-stream.ts'
import type { ProvedDialect } from '../dialects/proved-dialect.ts'

export interface Framing {
  readonly name: string
  readonly plan: StreamPlan
  /** The data of an event in several lines. */
  readonly isFolded: boolean
  /** Events of this kind stand before all others; null: none do. */
  readonly unknown: FakeEvent | null
}

const FORMS: readonly (StreamPlan & { readonly name: string; readonly isFolded?: boolean })[] = [
  { name: 'plain' },
  { name: 'a byte order mark', hasMark: true },
  { name: 'comments', comment: 'KEEP-ALIVE data: {}' },
  { name: 'id and retry', fields: ['id: 7', 'retry: 10', 'unknown', ': within'] },
  { name: 'several data lines', isFolded: true },
  { name: 'all of it', hasMark: true, comment: '', fields: ['id', ':'], isFolded: true },
]
/** An event as a later version of any protocol may have it. */
const UNKNOWN: FakeEvent = {
  event: 'answer.sparkled',
  data: JSON.stringify({ type: 'answer.sparkled', sparkle: ['é', 1] }),
}
const LINE_ENDS = { LF: '\n', CR: '\r', CRLF: '\r\n' } as const

export const FRAMINGS: readonly Framing[] = FORMS.flatMap(({ name, isFolded = false, ...plan }) =>
  Object.entries(LINE_ENDS).map(([called, lineEnd]) => ({
    name: `${name}, ${called}`,
    plan: { ...plan, lineEnd },
    isFolded,
    unknown: null,
  })),
)
const WITH_UNKNOWN = FRAMINGS.map((framing) => ({
  ...framing,
  name: `${framing.name}, unknown events`,
  unknown: UNKNOWN,
}))

/** The framings in which a caller has to get the same. */
export function framingsOf({ skipsUnknown }: Pick<ProvedDialect, 'skipsUnknown'>): readonly Framing[] {
  return skipsUnknown ? [...FRAMINGS, ...WITH_UNKNOWN] : FRAMINGS
}

export function framed(events: readonly FakeEvent[], { isFolded, unknown }: Framing): readonly FakeEvent[] {
  const all = unknown === null ? events : events.flatMap((event) => [unknown, event])
  return isFolded ? all.map((event) => ({ ...event, data: folded(event.data) })) : all
}

export function bodyIn(events: readonly FakeEvent[], framing: Framing): Buffer {
  return bodyOf(framed(events, framing), framing.plan)
}

function folded(data: string): string {
  return data.startsWith('{') ? JSON.stringify(JSON.parse(data), null, 1) : data
}
