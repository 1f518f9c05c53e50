/** Why a provider refuses an input that another model may accept. */
export type ModelRefusal = 'context' | 'moderation'

/**
 * Codes and types by which providers refuse a prompt that is too long for the model, or that a moderation refuses:
 * codes of OpenAI and of servers with its protocol, Azure, llama.cpp, OpenRouter and DashScope.
 */
const CODES: ReadonlyMap<string, ModelRefusal> = new Map([
  ['context_length_exceeded', 'context'],
  ['context_window_exceeded', 'context'],
  ['model_context_window_exceeded', 'context'],
  ['exceed_context_size_error', 'context'],
  ['context_exceeded', 'context'],
  ['model_max_prompt_tokens_exceeded', 'context'],
  ['prompt_too_long', 'context'],
  ['input_too_long', 'context'],
  ['tokens_limit_reached', 'context'],
  ['content_filter', 'moderation'],
  ['content_policy_violation', 'moderation'],
  ['ResponsibleAIPolicyViolation', 'moderation'],
  ['moderation_blocked', 'moderation'],
  ['data_inspection_failed', 'moderation'],
  ['DataInspectionFailed', 'moderation'],
])

/** Wordings for a context that is too long, by providers that send no code for it. Bounded, so linear. */
const TOO_LONG = new RegExp(
  [
    // OpenAI, vLLM, DeepSeek, Fireworks, Mistral, OpenRouter, xAI, TensorRT-LLM, Poolside.
    'max(?:imum)? (?:allowed )?(?:context|prompt|model|input|sequence) (?:length|limit)',
    // Anthropic, Bedrock, Ollama, older vLLM, Perplexity.
    '(?:prompt|input|length of all messages|\\(\\d{1,9} tokens\\)) (?:is )?too long',
    // llama.cpp, OpenAI's responses, Ollama, Anthropic with `max_tokens`.
    "exceed(?:s|ed|ing)?(?: (?:the|this|your|its|max|maximum|available|configured|model|model's|model’s)){0,5}" +
      ' context[ _-]?(?:length|window|size|limit)',
    // MiniMax, llama.cpp.
    'context (?:length|window|size|limit) (?:(?:has been|is|was) )?(?:exceed(?:s|ed)|limit)',
    // SGLang, Together, LM Studio.
    '(?:longer|greater|larger) than the (?:model.s )?context (?:length|window|size)',
    'context length (?:of|is) only|configured context size',
    // Google and Vertex, GitHub Copilot, Bedrock's Nova, OpenAI.
    '(?:input|prompt) token count (?:[^.]{1,40} )?(?:exceeds|but (?:the )?model only supports)',
    'input tokens exceed(?:s|ed)?',
    // Mistral, Moonshot, Zhipu, DashScope, Groq and Cerebras, Qianfan.
    'too large for model with|exceeded model token limit|prompt exceeds (?:the )?(?:max|length limit)',
    'range of input length should be|reduce the length of the (?:messages|prompt|input)',
    'tokens in request more than max tokens',
    // Cohere, Bedrock, Text Generation Inference.
    'too many input tokens|too many tokens:|`?inputs`? (?:tokens \\+ `?max_new_tokens`? must be|must have less than)',
  ].join('|'),
  'i',
)
/** Rate limits mention input tokens too, but waiting helps with them. */
const OF_RATE =
  /rate.?limit|quota|(?:tokens|requests) ?(?:per|\/) ?(?:min|hour|day|second)|too many requests|\bTPM\b/i

/**
 * The reason in a provider's error that concerns only the model.
 * @param codes in any form that the provider uses
 * @param text its message; the caller shortens it, since a pattern reads all of it
 * @returns null: the refusal concerns the request itself
 */
export function modelRefusal(codes: readonly unknown[], text: string): ModelRefusal | null {
  for (const code of codes) {
    const found = typeof code === 'string' ? CODES.get(code) : undefined
    if (found !== undefined) return found
  }
  return TOO_LONG.test(text) && !OF_RATE.test(text) ? 'context' : null
}
