/** Tokens of a call to a text model, in addition to those of its prompt. */
export interface TextTokens {
  /** Tokens of the answer, with reasoning. */
  readonly outputTokens: number
  /** Tokens of the prompt that a cache of the provider had. */
  readonly cachedTokens: number
}
