/** Paths of one model's calls in Google's API, below the base address. */
export interface GeminiPaths {
  readonly whole: string
  /** Without the query the answer would be one list. */
  readonly streamed: string
  readonly count: string
}

/** @param upstreamModel such as `gemini-2.5-pro` */
export function geminiPaths(upstreamModel: string): GeminiPaths {
  const model = `/models/${encodeURIComponent(upstreamModel)}`
  return {
    whole: `${model}:generateContent`,
    streamed: `${model}:streamGenerateContent?alt=sse`,
    count: `${model}:countTokens`,
  }
}
