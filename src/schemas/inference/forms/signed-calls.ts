import type { CarriedSignature } from '../../../dialects/signatures.ts'
import type { AssistantPart, Signature } from '../../../dialects/prompt.ts'

/**
 * A part, or the signature of the call before it: forms whose calls have no signature carry it behind the
 * call. Part D, mapping table.
 */
export type ReadPart = AssistantPart | { readonly kind: 'call_signature'; readonly signature: Signature }

const NO_TEXT = {
  kind: 'reasoning',
  text: '',
  isSummary: false,
  isRedacted: false,
  id: null,
  cache: null,
} as const

/**
 * Gives signatures of calls to their calls. Behind a call stands its own one. One that no call comes before was
 * moved by a form that puts reasoning first: it is that of the next call.
 */
export function withCallSignatures(parts: readonly ReadPart[]): readonly AssistantPart[] {
  const read: AssistantPart[] = []
  const early: Signature[] = []
  let at = -1
  for (const part of parts) {
    const call = read[at]
    if (part.kind === 'call') {
      at = read.length
      read.push({ ...part, signature: part.signature ?? early.shift() ?? null })
    } else if (part.kind !== 'call_signature') read.push(part)
    else if (call?.kind === 'call') read[at] = { ...call, signature: part.signature }
    else early.push(part.signature)
  }
  // Signatures of calls that are not there.
  return [...early.map((signature) => ({ ...NO_TEXT, signature })), ...read]
}

interface CarriedReasoning {
  readonly text: string
  readonly isSummary: boolean
  readonly id: string | null
}

/** Reasoning with what a member carries. */
export function signedReasoning(
  told: CarriedReasoning,
  carried: CarriedSignature | null,
): readonly ReadPart[] {
  if (carried?.of === 'call') return [{ kind: 'call_signature', signature: carried.signature }]
  if (told.text === '' && carried === null) return []
  const signature = carried?.signature ?? null
  const isRedacted = carried?.of === 'redacted'
  return [{ kind: 'reasoning', ...told, signature, isRedacted, cache: null }]
}
