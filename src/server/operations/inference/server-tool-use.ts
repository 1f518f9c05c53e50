import type { TokenUsage } from '../../ports/inference/inference.ts'

/** The member by which a usage of chat or messages tells the searches of the web, if there were any. D24. */
export function serverToolUse({ searches = 0 }: Pick<TokenUsage, 'searches'>): {
  readonly server_tool_use?: { readonly web_search_requests: number }
} {
  return searches === 0 ? {} : { server_tool_use: { web_search_requests: searches } }
}
