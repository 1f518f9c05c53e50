import { randomUUID } from 'node:crypto'
import type { ShownUsage } from './parts.ts'
import type { Dialect, TextRequest } from '../schemas/inference/text-request.ts'
import { withoutMarks } from '../schemas/values/long-integers.ts'
import { WholeChat } from './chat/answer.ts'
import { WholeMessage } from './messages/answer.ts'
import { WholeResponse } from './responses/answer.ts'
import type { TextHead, WholeText } from './answers.ts'
/** Makes what collects an answer in a dialect, for one call. */
export type WholeTextOf = (head: TextHead, asked: Pick<TextRequest, 'isEncryptedAsked'>) => WholeText

export const WHOLE_TEXTS: Readonly<Record<Dialect, WholeTextOf>> = {
  chat: (head) => new WholeChat(head),
  responses: (head, asked) => new WholeResponse(head, asked),
  messages: (head) => new WholeMessage(head),
}

/** Stands for the usage: callers and providers cannot know it. */
const PLACE = JSON.stringify(randomUUID())

/**
 * JSON of an answer before the place of its usage, which is not known yet, and behind it.
 * @param shown what stands outside of the usage
 */
export function aroundUsage(
  text: WholeText,
  shown: Pick<ShownUsage, 'tier'> = {},
): { readonly before: string; readonly after: string } {
  const json = withoutMarks(JSON.stringify(text.answer({ whole: PLACE, added: null, ...shown })))
  const at = json.indexOf(PLACE)
  return { before: json.slice(0, at), after: json.slice(at + PLACE.length) }
}
