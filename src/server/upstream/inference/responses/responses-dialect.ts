import type { NativeDialect } from '../../../../dialects/native.ts'
import { readResponse } from '../../../../dialects/responses/whole.ts'
import { NativeResponsesStream } from '../../../../dialects/responses/stream.ts'
import { responsesRequest } from '../../../../dialects/responses/native-request.ts'

/** OpenAI's `POST /responses`. */
export const RESPONSES: NativeDialect = {
  path: '/responses',
  request: responsesRequest,
  stream: (head, failureOf) => new NativeResponsesStream(head, failureOf),
  answer: readResponse,
}
