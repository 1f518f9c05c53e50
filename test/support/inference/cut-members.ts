/** Members that providers do not get, written out: a table of the product that loses a name is found. */

/** For Sluice alone. */
export const OURS = [
  ...['models', 'provider', 'preset', 'route', 'transforms', 'plugins', 'usage', 'session_id', 'trace'],
  ...['debug', 'stop_server_tools_when'],
]
/** OpenRouter's, at the top of requests to strict providers. */
export const FOREIGN = [
  ...['top_k', 'top_a', 'min_p', 'repetition_penalty', 'include_reasoning', 'image_config', 'cache_control'],
  'prompt_cache_breakpoint',
]
/** OpenRouter's, in messages, items, parts and tools. */
export const INSIDE = ['cache_control', 'prompt_cache_breakpoint']

export function without(value: unknown, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(value as Record<string, unknown>).filter(([name]) => !names.includes(name)),
  )
}
