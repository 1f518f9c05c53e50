import type { ShortJobTypes } from '../server/ports/short-jobs.ts'
import { joined } from '../schemas/values/json-bytes.ts'
import { aroundUsage, WHOLE_TEXTS } from '../dialects/native-answer.ts'
import { shownTier } from '../schemas/models/price-conditions.ts'
import { wholeParts } from '../dialects/translate.ts'

type Job = ShortJobTypes['translated_answer']

export function translatedAnswer({ dialect, head, isEncryptedAsked, ...read }: Job['in']): Job['out'] {
  const whole = wholeParts(read)
  if (!whole.ok) return whole
  const { parts, ...figures } = whole.value
  const text = WHOLE_TEXTS[dialect](head, isEncryptedAsked ? { isEncryptedAsked } : {})
  text.begin(head)
  for (const part of parts) text.add(part)
  const { before, after } = aroundUsage(text, shownTier(whole.value.reported))
  const pieces = [Buffer.from(before), Buffer.from(after)] as const
  const [{ length: beforeBytes }] = pieces
  return { ok: true, ...figures, answer: joined(pieces), beforeBytes, usageBytes: null }
}
