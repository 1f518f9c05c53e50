import type { NativeDialect } from '../../../../dialects/native.ts'
import { chatRequest } from '../chat-edits.ts'
import { readChatAnswer } from './chat-answer.ts'
import { NativeChatStream } from './native-chat-stream.ts'

/** OpenAI's `POST /chat/completions`. */
export const CHAT: NativeDialect = {
  path: '/chat/completions',
  request: chatRequest,
  stream: (head, failureOf) => new NativeChatStream(head, failureOf),
  answer: readChatAnswer,
}
