/** In addition to the tokens of the prompt. */
export interface TextTokens {
  /** Tokens of the answer, with reasoning. */
  readonly outputTokens: number
  /** Tokens of the prompt that a cache of the provider had. */
  readonly cachedTokens: number
}
