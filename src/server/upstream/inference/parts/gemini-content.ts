import { createHash } from 'node:crypto'
import { SIGNATURE_FORMATS } from '../../../../schemas/inference/forms/carried-signatures.ts'
import { objectOf, type Members } from '../../../../schemas/values/members.ts'
import type { WrittenPart } from '../../../ports/inference/inference.ts'

/** Hex characters of a call's id: two calls of one conversation may have the same name and arguments. */
const HASH_CHARS = 16

/** Where a part stands. */
export interface PartPlace {
  /** Calls of tools before it. */
  readonly calls: number
  /** The provider's id of the answer; null: it told none. */
  readonly answerId: string | null
}

/**
 * One part of Gemini's content. Parts of unknown kinds are skipped.
 * @returns null: it is no part, or one that cannot be passed on
 */
export function geminiPart(part: unknown, place: PartPlace): readonly WrittenPart[] | null {
  const members = objectOf(part)
  if (members === null) return null
  // The model made a medium, and no dialect of a translated answer has a place for it.
  if (isThere(members['inlineData']) || isThere(members['fileData'])) return null
  const { thoughtSignature } = members
  if (isThere(thoughtSignature) && typeof thoughtSignature !== 'string') return null
  const data = typeof thoughtSignature === 'string' && thoughtSignature !== '' ? thoughtSignature : null
  return isThere(members['functionCall'])
    ? callParts(members['functionCall'], data, place)
    : textParts(members, data)
}

function textParts({ text, thought }: Members, data: string | null): readonly WrittenPart[] | null {
  if (isThere(text) && typeof text !== 'string') return null
  const said = typeof text === 'string' ? text : ''
  if (thought === true) {
    const summary = { kind: 'reasoning', choice: 0, text: said, isSummary: true } as const
    return [...(said === '' ? [] : [summary]), ...signed(data, 'reasoning')]
  }
  // A text is signed for the reasoning behind it, of which nothing is shown.
  const written = { kind: 'text', choice: 0, text: said } as const
  return [...(said === '' ? [] : [written]), ...signed(data, 'redacted')]
}

function callParts(
  call: unknown,
  data: string | null,
  { calls, answerId }: PartPlace,
): readonly WrittenPart[] | null {
  const { name, args } = objectOf(call) ?? {}
  if (typeof name !== 'string' || name === '') return null
  const json = argumentsOf(args)
  if (json === null) return null
  const seed = JSON.stringify([answerId, calls, name, json])
  const hash = createHash('sha256').update(seed).digest('hex').slice(0, HASH_CHARS)
  return [
    { kind: 'tool', choice: 0, id: `call_${calls}_${hash}`, name },
    { kind: 'arguments', choice: 0, text: json },
    ...signed(data, 'call'),
  ]
}

/** @returns null: they are no object, or nested too deeply to be written */
function argumentsOf(args: unknown): string | null {
  if (!isThere(args)) return '{}'
  try {
    return objectOf(args) === null ? null : JSON.stringify(args)
  } catch {
    return null
  }
}

function signed(data: string | null, of: 'reasoning' | 'redacted' | 'call'): readonly WrittenPart[] {
  if (data === null) return []
  return [{ kind: 'signature', choice: 0, signature: { format: SIGNATURE_FORMATS.gemini, data }, of }]
}

/** Null stands for a member that is left out. */
export function isThere(value: unknown): boolean {
  return value !== undefined && value !== null
}
