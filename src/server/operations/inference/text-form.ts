import { CONVERSATION_HEADERS } from '../../../schemas/inference/conversation.ts'
import type { Outcome } from '../../../schemas/failures.ts'
import type { TextRequest } from '../../../schemas/inference/text-request.ts'
import type { PaidUsage, TextEvents, TextHead } from '../../../dialects/answers.ts'
import type { ShownUsage } from '../../../dialects/parts.ts'
import type { WholeTextOf } from '../../../dialects/whole-texts.ts'
import type { InferencePlan } from '../../ports/inference/inference.ts'
import type { Ports } from '../../ports/ports.ts'
import type { Call } from '../define.ts'
import type { TextWithFiles } from './text-inputs.ts'

/** Statuses of every operation that writes texts. D3. */
export const TEXT_STATUSES = [400, 402, 403, 404, 408, 413, 422, 429, 500, 502, 503, 524, 529] as const

/** Headers of a caller that every operation reads which writes texts. */
export const TEXT_HEADERS = ['x-session-id', 'x-sluice-hops', ...CONVERSATION_HEADERS] as const

/** Headers of every answer, each where it is known when the head leaves. D32. */
export const ANSWER_HEADERS = {
  'x-generation-id': 'Id of the answer, as in its body.',
  'x-sluice-provider': 'Slug of the provider that answered.',
  'x-sluice-attempts': 'Number of endpoints tried, including the last.',
  'x-sluice-dropped':
    'Fields of the request that were not sent to the provider or have no effect, comma-separated; ' +
    'also fields of a preset that was saved in another format, by their names there.',
  'x-sluice-unpriced':
    '`true` when the catalogue has no price for the endpoint and does not mark it as free, or has no price for tools that the provider runs; ' +
    'parts without a price are not charged, even if the provider charges for them. ' +
    '`tier` when the answer reports a tier, speed or region without a price in the catalogue; the usual price is charged.',
  'x-sluice-usage':
    'Sent only if the answer is not streamed. `estimated`: the provider reported no credible token counts, so Sluice estimated them; ' +
    '`capped`: the reported cost exceeded the maximum, which was charged.',
} as const

/** The form of calls and answers in one dialect: what its operation adds to `answerText`. */
export interface TextForm {
  /** Id of the operation. */
  readonly operation: string
  /** The member of a request with the most tokens of an answer. */
  readonly tokensMember: 'max_tokens' | 'max_output_tokens'
  /** The events of a streamed answer. */
  events(head: TextHead, request: TextRequest): TextEvents
  readonly whole: WholeTextOf
  /** @param nano the charged part of the cost */
  usageOf(end: PaidUsage, nano: number): ShownUsage
  /** Headers of the caller that go to the provider: a flat list of names and values; absent: none. D4. */
  passed?(call: Pick<Call, 'headers'>): Outcome<readonly string[]>
}

export type TextCall = Call<undefined, undefined, TextRequest>

export interface AnswerParts {
  readonly form: TextForm
  readonly ports: Ports
}

export interface CompleteParts extends AnswerParts, TextWithFiles {}

export interface Planned {
  readonly head: TextHead
  readonly plan: InferencePlan
  /** What stands for the maximum that the request lacks. D25. */
  readonly defaultTokensMax: number | null
}
