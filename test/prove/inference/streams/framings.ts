/** The framings in which one stream of events may come. */
import { bodyOf, type FakeEvent, type StreamPlan } from '../../../support/inference/fake-stream.ts'

export interface Framing {
  readonly name: string
  readonly plan: StreamPlan
  /** The data of an event in several lines. */
  readonly isFolded: boolean
}

const FORMS: readonly (StreamPlan & { readonly name: string; readonly isFolded?: boolean })[] = [
  { name: 'plain' },
  { name: 'a byte order mark', hasMark: true },
  { name: 'comments', comment: 'KEEP-ALIVE data: {}' },
  { name: 'id and retry', fields: ['id: 7', 'retry: 10', 'unknown', ': within'] },
  { name: 'several data lines', isFolded: true },
  { name: 'all of it', hasMark: true, comment: '', fields: ['id', ':'], isFolded: true },
]
const LINE_ENDS = { LF: '\n', CR: '\r', CRLF: '\r\n' } as const

export const FRAMINGS: readonly Framing[] = FORMS.flatMap(({ name, isFolded = false, ...plan }) =>
  Object.entries(LINE_ENDS).map(([called, lineEnd]) => ({
    name: `${name}, ${called}`,
    plan: { ...plan, lineEnd },
    isFolded,
  })),
)

export function framed(events: readonly FakeEvent[], { isFolded }: Framing): readonly FakeEvent[] {
  return isFolded ? events.map((event) => ({ ...event, data: folded(event.data) })) : events
}

export function bodyIn(events: readonly FakeEvent[], framing: Framing): Buffer {
  return bodyOf(framed(events, framing), framing.plan)
}

function folded(data: string): string {
  return data.startsWith('{') ? JSON.stringify(JSON.parse(data), null, 1) : data
}
