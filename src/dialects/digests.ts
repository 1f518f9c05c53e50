import type { BODIES, BodyName } from '../schemas/bodies.ts'
import type { Outcome } from '../schemas/failures.ts'
import { presetInputOf } from '../schemas/presets/preset-input.ts'
import { chatInputOf } from './chat/digest.ts'
import { countInputOf, messagesInputOf } from './messages/digest.ts'
import { responsesInputOf } from './responses/digest.ts'

/**
 * Makes the operation's input from a body on the thread that checks the body, so that a large body with
 * thousands of parts, few of them kept, never reaches the loop. A pure function of a body that has passed the
 * schema; the form of the body has no `bulk`.
 * @param bytes of the whole body
 * @param escaped those of `bytes` that escapes take beyond their characters; 0 for a form that keeps no bytes
 */
export type Digest = (
  body: Readonly<Record<string, unknown>>,
  bytes: number,
  escaped: number,
) => Outcome<object>

type Bodies = typeof BODIES
/** Bodies for which an operation gets a digest. */
export type DigestedName = {
  [N in BodyName]: Bodies[N] extends { readonly isDigested: true } ? N : never
}[BodyName]

export const DIGESTS: Readonly<Record<DigestedName, Digest>> = {
  chat: chatInputOf,
  messages: messagesInputOf,
  count_tokens: countInputOf,
  responses: responsesInputOf,
  preset_chat: (body) => presetInputOf(body, 'chat'),
  preset_messages: (body) => presetInputOf(body, 'messages'),
  preset_responses: (body) => presetInputOf(body, 'responses'),
}
