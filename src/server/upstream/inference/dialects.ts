import type { Dialect } from '../../../schemas/inference/text-request.ts'
import type { Endpoint } from '../../ports/models/models.ts'
import { CHAT } from './chat/chat-dialect.ts'
import { isEcho } from './echo.ts'
import { MESSAGES } from './messages/messages-dialect.ts'
import type { NativeDialect } from './protocol.ts'
import { RESPONSES } from './responses/responses-dialect.ts'

/** The forms in which callers and providers speak alike. D5. */
export const NATIVE_DIALECTS: Readonly<Partial<Record<Dialect, NativeDialect>>> = {
  chat: CHAT,
  responses: RESPONSES,
  messages: MESSAGES,
}

/** True for an endpoint that answers a call in the caller's own form, or is built in. D5. */
export function speaks(endpoint: Endpoint, dialect: Dialect): boolean {
  if (isEcho(endpoint)) return true
  return NATIVE_DIALECTS[dialect] !== undefined && endpoint.text?.speaks.includes(dialect) === true
}
