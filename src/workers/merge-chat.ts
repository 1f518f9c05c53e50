import { BODIES } from '../schemas/bodies.ts'
import { mergedChat } from '../schemas/inference/chat-preset.ts'
import { KeptBody } from '../schemas/kept-body.ts'
import type { BodyVerdict, ShortJobTypes } from '../server/ports/short-jobs.ts'
import { readBody } from './read-body.ts'

/**
 * The body of a chat with what it lacks of a preset, read as if it had come so: the digest, the places and
 * every check are those of the merged body, whatever the preset has in it. D10.
 */
export function mergeChat({ bytes, preset, model }: ShortJobTypes['merge_chat']['in']): BodyVerdict {
  const read = readBody({ body: 'chat', bytes })
  if (!read.ok) return read
  if (read.source === undefined) throw new Error('the body of a chat is not kept')
  const { names } = BODIES.chat.keeps
  const body = new KeptBody(bytes, read.source.places, { names, released: () => undefined })
  return readBody({ body: 'chat', bytes: mergedChat(body, preset, model) })
}
