/** Members that are removed for providers that refuse unknown members. */

/** A member that OpenRouter added to requests or to parts of them. */
export interface ForeignMember {
  /** Values that change nothing, as JSON: a member with such a value is not reported as dropped. Null is always one of them. */
  readonly defaults: readonly string[]
}

/** Top-level members that are cut out. `reasoning` is not among them: its effort becomes `reasoning_effort`. */
export const STRICT_CUT: Readonly<Record<string, ForeignMember>> = {
  top_k: { defaults: ['0', '-1'] },
  top_a: { defaults: ['0'] },
  min_p: { defaults: ['0'] },
  repetition_penalty: { defaults: ['1'] },
  include_reasoning: { defaults: ['true'] },
  image_config: { defaults: ['{}'] },
  cache_control: { defaults: [] },
  prompt_cache_breakpoint: { defaults: [] },
}

/** Members that OpenAI's responses lack, with the values that change nothing. */
export const RESPONSES_STRICT_CUT: Readonly<Record<string, ForeignMember>> = {
  ...STRICT_CUT,
  presence_penalty: { defaults: ['0'] },
  frequency_penalty: { defaults: ['0'] },
  modalities: { defaults: ['["text"]'] },
}

/** Members of `reasoning` that are reported separately when they are dropped; its `effort` is passed on. */
export const REASONING_MEMBERS: readonly string[] = ['max_tokens', 'summary', 'enabled', 'exclude']
/** Values of members of `reasoning` that change nothing, as JSON. */
export const REASONING_DEFAULTS: ReadonlyMap<string, readonly string[]> = new Map([['exclude', ['false']]])

/** Members that are cut out of messages, of parts of their contents, and of tools. */
export const STRICT_CUT_INSIDE: readonly string[] = ['cache_control', 'prompt_cache_breakpoint']

/**
 * Members that are cut out of messages of one role. A tool result contains the id of its call; clients of
 * OpenRouter also add the tool's name.
 */
export const STRICT_CUT_BY_ROLE: Readonly<Record<string, readonly string[]>> = {
  assistant: ['reasoning', 'reasoning_content', 'reasoning_details', 'annotations', 'images', 'model'],
  tool: ['name'],
}
/** Values of these nested members that change nothing, as JSON. */
export const STRICT_CUT_INSIDE_DEFAULTS: readonly string[] = ['""', '[]']
