import type { ReasoningField } from '../../schemas/models/protocols.ts'

export interface WriteTerms {
  /** The provider's name for the model. */
  readonly upstreamModel: string
  /** The token maximum of the answer when the caller names none; null: none is sent. */
  readonly tokensMax: number | null
  /** The provider refuses members that it does not know. */
  readonly isStrict: boolean
  /** The provider is the maker of the protocol and supports names that imitators lack. */
  readonly isMaker: boolean
  /** Formats of signatures that the endpoint accepts, its own first. */
  readonly signatureFormats: readonly string[]
  /** The member in which a chat provider accepts earlier reasoning; absent: it is written in both members. */
  readonly reasoningField?: ReasoningField
  /** The efforts that the model accepts; absent: those that every chat provider has. */
  readonly efforts?: readonly string[]
  /** The Gemini provider refuses a tier in the body. */
  readonly isWithoutTier?: true
  /**
   * The body is that of a preset, for a caller of this dialect, so the members that show reasoning to callers
   * of other dialects are not added.
   */
  readonly isOfPreset?: true
}

/** A part of a prompt that the protocol cannot express and without which the answer would change. */
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
  /** JSON pointers of dropped members, if they cannot be derived from the names. */
  readonly paths: ReadonlyMap<string, string>
  /** Not empty: the body must not be sent. */
  readonly refused: readonly RefusedMember[]
}

/**
 * System text that comes after the first turn of another role, for protocols whose system text precedes all
 * turns: it is sent as user text that is marked as system text. Part D, mapping table.
 */
export function laterSystemText(text: string): string {
  return `<system>\n${text}\n</system>`
}
