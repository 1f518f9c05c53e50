/** Why a provider refuses an input that another model may take. D11. */
export type ModelRefusal = 'context' | 'moderation'

/**
 * Codes and types by which providers refuse a prompt that is too long for the model, or that a moderation
 * refuses: OpenAI's and of those who copy its protocol, Azure's, llama.cpp's, OpenRouter's, DashScope's.
 */
const CODES: ReadonlyMap<string, ModelRefusal> = new Map([
  ['context_length_exceeded', 'context'],
  ['context_window_exceeded', 'context'],
  ['model_context_window_exceeded', 'context'],
  ['exceed_context_size_error', 'context'],
  ['content_filter', 'moderation'],
  ['content_policy_violation', 'moderation'],
  ['ResponsibleAIPolicyViolation', 'moderation'],
  ['moderation_blocked', 'moderation'],
  ['data_inspection_failed', 'moderation'],
  ['DataInspectionFailed', 'moderation'],
])

/** Words of servers that give such a refusal no code of its own: vLLM, SGLang, Mistral, Ollama. */
const TEXTS: readonly (readonly [RegExp, ModelRefusal])[] = [
  [/maximum context length|context (?:length|window|size) (?:exceeded|limit)|prompt is too long/i, 'context'],
]

/**
 * What a provider's error says of the model alone.
 * @param codes in whatever form the provider gives them
 * @param text its message; the caller cuts it, since a pattern reads all of it
 * @returns null: the refusal holds for the request
 */
export function modelRefusal(codes: readonly unknown[], text: string): ModelRefusal | null {
  for (const code of codes) {
    const found = typeof code === 'string' ? CODES.get(code) : undefined
    if (found !== undefined) return found
  }
  return TEXTS.find(([pattern]) => pattern.test(text))?.[1] ?? null
}
