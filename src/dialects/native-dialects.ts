import type { Dialect } from '../schemas/inference/text-request.ts'
import type { NativeDialect } from './native.ts'
import { chatRequest } from './chat/native-request.ts'
import { readChatAnswer } from './chat/whole.ts'
import { readMessageAnswer } from './messages/whole.ts'
import { NativeMessagesStream } from './messages/stream.ts'
import { readResponse } from './responses/whole.ts'
import { NativeResponsesStream } from './responses/stream.ts'
import { responsesRequest } from './responses/native-request.ts'
import { messagesRequest } from './messages/native-request.ts'
import { NativeChatStream } from './chat/stream.ts'

/** The forms in which callers and providers speak alike. D5. */
export const NATIVE_DIALECTS: Readonly<Record<Dialect, NativeDialect>> = {
  chat: {
    path: '/chat/completions',
    request: chatRequest,
    stream: (head, failureOf) => new NativeChatStream(head, failureOf),
    answer: readChatAnswer,
  },
  responses: {
    path: '/responses',
    request: responsesRequest,
    stream: (head, failureOf) => new NativeResponsesStream(head, failureOf),
    answer: readResponse,
  },
  messages: {
    path: '/messages',
    countPath: '/messages/count_tokens',
    request: messagesRequest,
    stream: (head, failureOf) => new NativeMessagesStream(head, failureOf),
    answer: readMessageAnswer,
  },
}
