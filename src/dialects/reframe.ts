import { INVALID } from './native-events.ts'
import { eventsOfAnswer } from '../server/upstream/inference/framing/answer-events.ts'
import { withoutMark } from './frame.ts'
import { answerOfEvents } from '../server/upstream/inference/framing/gathered-answer.ts'
import type { Reframed } from './parts.ts'
import type { TextProtocol } from '../schemas/models/text-models.ts'

interface Reframing {
  readonly protocol: TextProtocol
  readonly to: 'answer' | 'events'
  readonly bytes: Uint8Array
}

/** Makes events of a whole answer, or a whole answer of events: a provider may send what it was not asked for. */
export function reframe({ protocol, to, bytes }: Reframing): Reframed {
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  try {
    if (to === 'answer') return answerOfEvents(protocol, body)
    const events = eventsOfAnswer(protocol, withoutMark(body))
    return events === null ? { ok: false, failure: INVALID } : { ok: true, bytes: events }
  } catch {
    // What is nested too deeply can be parsed, but not be written again.
    return { ok: false, failure: INVALID }
  }
}
