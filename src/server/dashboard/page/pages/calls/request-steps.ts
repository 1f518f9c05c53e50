import type { RequestShape } from '../../../../../schemas/requests/requests.ts'

/** A part of a call's duration, in milliseconds from its begin. */
export interface Step {
  readonly name: string
  readonly fromMs: number
  readonly ms: number
  readonly tone: 'own' | 'failed' | 'provider'
  /** How an attempt ended. */
  readonly note?: string
}

type Timed = Pick<RequestShape, 'parts' | 'failed_attempts' | 'duration_ms' | 'provider' | 'attempts'>

/**
 * The stages of Sluice, the attempts that failed, the one that answered, and the rest. Stages follow each
 * other; attempts have their own start time.
 */
export function stepsOf({
  parts,
  failed_attempts: failed,
  duration_ms: duration,
  provider,
  attempts,
}: Timed): readonly Step[] {
  const steps: Step[] = []
  let at = 0
  const own = (name: string, ms: number | null): void => {
    if (ms === null) return
    steps.push({ name, fromMs: at, ms, tone: 'own' })
    at += ms
  }
  own('Key', parts.auth_ms)
  own('Rate limit', parts.limits_ms)
  own('Body and checks', parts.validation_ms)
  own('Reservation', parts.hold_ms)
  for (const { provider: name, status, code, started_ms: fromMs, duration_ms: ms } of failed) {
    steps.push({ name, fromMs, ms, tone: 'failed', note: status === null ? code : `${status} ${code}` })
    at = Math.max(at, fromMs + ms)
  }
  if (parts.provider_ms !== null && (attempts > failed.length || failed.length === 0)) {
    steps.push({ name: provider ?? 'Provider', fromMs: at, ms: parts.provider_ms, tone: 'provider' })
    at += parts.provider_ms
  }
  if (duration !== null && duration - at > REST_MS_MIN) own('Other', duration - at)
  return steps
}

/** Shortest rest that is shown, in milliseconds. */
const REST_MS_MIN = 0.05

/** Paths of the operations that call models and whose calls can be repeated. */
export const REPEATABLE: Readonly<Record<string, string>> = {
  'embeddings.create': '/embeddings',
  'chat.create': '/chat/completions',
  'responses.create': '/responses',
  'messages.create': '/messages',
  'video.create': '/videos',
}

/** The command that repeats a call; null: none can. */
export function commandFor({ operation }: Pick<RequestShape, 'operation'>): string | null {
  const path = REPEATABLE[operation]
  if (path === undefined) return null
  return [
    `curl "$SLUICE_URL/api/v1${path}"`,
    '-H "authorization: Bearer $SLUICE_KEY"',
    "-H 'content-type: application/json'",
    '--data @body.json',
  ].join(' \\\n  ')
}
