import { readFileSync } from 'node:fs'
import { isObject } from './members/described.ts'
import type { Json } from './openapi-json.ts'

/** An answer to the example of an operation, as a test recorded it from a real call. */
export interface ExampleAnswer {
  readonly status: number
  /** The media type without parameters; null: the answer has no body. */
  readonly mediaType: string | null
  /** JSON, or the text of another type; absent: binary content, or no body. */
  readonly body?: unknown
}

/** Example answers by the id of the operation. */
export type ExampleAnswers = Readonly<Record<string, ExampleAnswer>>

/** The build writes the file here, from `answers.json` next to this module. */
const BUILT = new URL('../docs/answers.json', import.meta.url)
const NONE: ExampleAnswers = {}

/** The recorded answers; none in compiled code without a build. */
export function exampleAnswers(): ExampleAnswers {
  try {
    return JSON.parse(readFileSync(BUILT, 'utf8')) as ExampleAnswers
  } catch {
    return NONE
  }
}

/** The responses of an operation; the recorded answer is added as example to the response with its status. */
export function withExample(responses: Json, answer: ExampleAnswer | undefined): Json {
  const response = responses[answer?.status ?? '']
  if (answer?.body === undefined || !isObject(response) || !isObject(response['content'])) return responses
  const [first, ...others] = Object.entries(response['content'])
  if (first === undefined || !isObject(first[1])) return responses
  const content = Object.fromEntries([[first[0], { ...first[1], example: answer.body }], ...others])
  return { ...responses, [answer.status]: { ...response, content } }
}
