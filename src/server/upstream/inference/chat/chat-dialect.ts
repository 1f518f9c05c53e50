import type { NativeDialect } from '../../../../dialects/native.ts'
import { chatRequest } from '../../../../dialects/chat/native-request.ts'
import { readChatAnswer } from '../../../../dialects/chat/whole.ts'
import { NativeChatStream } from '../../../../dialects/chat/stream.ts'

/** OpenAI's `POST /chat/completions`. */
export const CHAT: NativeDialect = {
  path: '/chat/completions',
  request: chatRequest,
  stream: (head, failureOf) => new NativeChatStream(head, failureOf),
  answer: readChatAnswer,
}
