import type { ReasoningField } from '../../schemas/models/protocols.ts'

export interface WriteTerms {
  /** The provider's own name of the model. */
  readonly upstreamModel: string
  /** Tokens of the answer at most, where the caller names no maximum; null: none is sent. */
  readonly tokensMax: number | null
  /** The provider refuses members that it does not know. */
  readonly isStrict: boolean
  /** The provider made the protocol, and has names that its imitators lack. */
  readonly isMaker: boolean
  /** Formats of signatures that the endpoint takes back; its own one is the first. */
  readonly signatureFormats: readonly string[]
  /** Where a provider of chat takes reasoning back; absent: in both members. */
  readonly reasoningField?: ReasoningField
  /** The efforts that the model takes; absent: those that every provider of chat has. */
  readonly efforts?: readonly string[]
  /** The provider of Gemini refuses a tier in the body. */
  readonly isWithoutTier?: true
  /**
   * The body is of a preset, for a caller of this form: it has nothing by which callers of other forms would
   * see the reasoning.
   */
  readonly isOfPreset?: true
}

/** A part of a prompt that the protocol has no words for, and without which the answer would be another. */
export interface RefusedMember {
  /** JSON pointer in the caller's body. */
  readonly path: string
  readonly message: string
  readonly expected: string
}

export interface WrittenPrompt {
  readonly body: Readonly<Record<string, unknown>>
  /** Members that only tune the answer and are not in the body, as `x-sluice-dropped` names them. */
  readonly dropped: readonly string[]
  /** JSON pointers in the caller's body of dropped members that are not where their names say. */
  readonly paths: ReadonlyMap<string, string>
  /** Not empty: the body must not be sent. */
  readonly refused: readonly RefusedMember[]
}

/**
 * System text that comes after the first turn of another role, for protocols whose system text precedes all
 * turns: it becomes user text that is marked as the system's. Part D, mapping table.
 */
export function laterSystemText(text: string): string {
  return `<system>\n${text}\n</system>`
}
