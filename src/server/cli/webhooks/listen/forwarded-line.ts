import { parsedJson } from '../../../supervisor/admin-port/answer-text.ts'
import type { Forwarded } from './forward-events.ts'

/** An event that was forwarded, for programs and for people. */
export interface ForwardedLine {
  readonly value: object
  readonly text: string
  /** Null: it was not verified. */
  readonly isGenuine: boolean | null
}

/**
 * One line: when the job ended, what ended, what the receiver answered, and whether the signatures are
 * genuine.
 */
export function forwardedLine({ event, verified, status, reason }: Forwarded): ForwardedLine {
  const type = typeOf(event.body)
  const isGenuine = verified === null ? null : verified.own && verified.standard
  const signatures = verified === null ? 'not verified' : signatureWords(verified)
  const answered = status === null ? `no answer: ${reason ?? ''}` : `answered ${status}`
  return {
    value: { id: event.id, job_id: event.job_id, type, status, reason, verified },
    text: `${event.created_at}  ${type}  ${event.job_id}  ${answered}  ${signatures}`,
    isGenuine,
  }
}

function signatureWords({ own, standard }: NonNullable<Forwarded['verified']>): string {
  if (own && standard) return 'both signatures valid'
  const forged = [...(own ? [] : ['x-sluice-signature']), ...(standard ? [] : ['webhook-signature'])]
  return `INVALID SIGNATURE: ${forged.join(', ')}`
}

function typeOf(body: string): string {
  const event = parsedJson(body)
  const type: unknown = typeof event === 'object' && event !== null ? Reflect.get(event, 'type') : null
  return typeof type === 'string' ? type : 'an event without a type'
}
