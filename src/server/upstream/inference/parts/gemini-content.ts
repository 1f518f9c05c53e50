import { SIGNATURE_FORMATS } from '../../../../dialects/signatures.ts'
import { objectOf, type Members } from '../../../../schemas/values/members.ts'
import { writtenJson } from '../../../../dialects/walk/written-json.ts'
import type { WrittenPart } from '../../../../dialects/parts.ts'

/**
 * One part of Gemini's content. Parts of unknown kinds are skipped.
 * @param idOf the id of a call, for which Google has none
 * @returns null: it is no part, or one that cannot be passed on
 */
export function geminiPart(part: unknown, idOf: (name: string) => string): readonly WrittenPart[] | null {
  const members = objectOf(part)
  if (members === null) return null
  // The model made a medium, and no dialect of a translated answer has a place for it.
  if (isThere(members['inlineData']) || isThere(members['fileData'])) return null
  const { thoughtSignature } = members
  if (isThere(thoughtSignature) && typeof thoughtSignature !== 'string') return null
  const data = typeof thoughtSignature === 'string' && thoughtSignature !== '' ? thoughtSignature : null
  return isThere(members['functionCall'])
    ? callParts(members['functionCall'], data, idOf)
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
  idOf: (name: string) => string,
): readonly WrittenPart[] | null {
  const { name, args } = objectOf(call) ?? {}
  if (typeof name !== 'string' || name === '') return null
  const json = argumentsOf(args)
  if (json === null) return null
  return [
    { kind: 'tool', choice: 0, id: idOf(name), name },
    { kind: 'arguments', choice: 0, text: json },
    ...signed(data, 'call'),
  ]
}

/** @returns null: they are no object, or nested too deeply to be written */
function argumentsOf(args: unknown): string | null {
  if (!isThere(args)) return '{}'
  try {
    return writtenJson(args)
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
