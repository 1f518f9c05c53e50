/** The maker of chat and responses, whose models differ from those of servers that copy its forms. */

/** Its slug, which begins the names of its models. */
export const MAKER = 'openai'
/** Characters of the names that it takes for an end user. */
export const MAKER_USER_CHARS_MAX = 64
/** Tokens of an answer of its responses at least: a smaller maximum is refused. */
export const MAKER_TOKENS_MIN = 16
/** Texts at which an answer of chat stops: it, and providers that know its members alone, take no more. */
export const STRICT_STOPS_MAX = 4

/** The member of chat for the most tokens of an answer: its newer models refuse the name that others know. */
export function chatTokensMember(isMaker: boolean): 'max_tokens' | 'max_completion_tokens' {
  return isMaker ? 'max_completion_tokens' : 'max_tokens'
}
