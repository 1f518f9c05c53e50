import type { NativeDialect } from '../../../../dialects/native.ts'
import { readResponse } from './response-answer.ts'
import { NativeResponsesStream } from './native-responses-stream.ts'
import { responsesRequest } from './responses-request.ts'

/** OpenAI's `POST /responses`. */
export const RESPONSES: NativeDialect = {
  path: '/responses',
  request: responsesRequest,
  stream: (head, failureOf) => new NativeResponsesStream(head, failureOf),
  answer: readResponse,
}
