import { dialectBody, keptFormOf } from '../schemas/bodies.ts'
import { mergedChat } from '../schemas/inference/chat-preset.ts'
import { mergedMessage } from '../schemas/inference/messages-preset.ts'
import { KeptBody } from '../schemas/kept-body.ts'
import type { BodyVerdict, ShortJobTypes } from '../server/ports/short-jobs.ts'
import { readBody } from './read-body.ts'

const MERGE = { chat: mergedChat, messages: mergedMessage } as const

/**
 * The body of a call with what it lacks of a preset, read as if it had come so: the digest, the places and
 * every check are those of the merged body, whatever the preset has in it. D10.
 */
export function mergeChat({ dialect, bytes, preset, model }: ShortJobTypes['merge_chat']['in']): BodyVerdict {
  const name = dialectBody(dialect)
  const read = readBody({ body: name, bytes })
  if (!read.ok) return read
  if (read.source === undefined) throw new Error('the body of a call is not kept')
  const { names } = keptFormOf(dialect)
  const body = new KeptBody(bytes, read.source.places, { names, released: () => undefined })
  return readBody({ body: name, bytes: MERGE[name](body, preset, model) })
}
