/** The forms in which callers and providers stream natively: a row for each. */
import { chat } from './chat-dialect.ts'
import { messages } from './messages-dialect.ts'
import type { ProvedDialect } from './proved-dialect.ts'
import { responses } from './responses-dialect.ts'

/** The dialects that are served. */
export const DIALECTS: readonly ProvedDialect[] = [chat, responses, messages]
