import type { NativeDialect } from '../protocol.ts'
import { chatRequest } from '../chat-edits.ts'
import { readChatAnswer } from './chat-answer.ts'
import { NativeChatStream } from './native-chat-stream.ts'

/** OpenAI's `POST /chat/completions`. */
export const CHAT: NativeDialect = {
  path: '/chat/completions',
  request: chatRequest,
  stream: (head, redacted) => new NativeChatStream(head, redacted),
  answer: readChatAnswer,
}
