/** A request of one form of calls as the request of another one. D5, D6. */
import type { Issue } from '../schemas/failure-metadata.ts'
import { JSON_VALUES_MAX } from '../schemas/limits/json-limits.ts'
import type { TextProtocol } from '../schemas/models/text-models.ts'
import { hasMoreValues } from '../schemas/values/json-values.ts'
import { parseMarked, withoutMarks } from '../schemas/values/long-integers.ts'
import { membersOf, type Members } from '../schemas/values/members.ts'
import type { Dialect } from '../schemas/inference/text-request.ts'
import { withUniqueCalls } from './prompt/calls.ts'
import { writeGeminiCount } from './gemini/write-request.ts'
import {
  contentPlaces,
  withContents,
  type ContentPlace,
  type NamedContents,
} from './prompt/inline-contents.ts'
import { lostIssues } from './table/lost-members.ts'
import { PROMPT_WRITERS } from './writers.ts'
import type { NamedOrigin, Prompt } from './prompt/prompt.ts'
import type { WriteTerms } from './prompt/write-terms.ts'
import { readChat } from './chat/read-request.ts'
import { readMessages } from './messages/read-request.ts'
import { readResponses } from './responses/read-request.ts'
import { withFittingNames } from './prompt/functions.ts'
import { urlsToFetch, type MediumUrl } from './prompt/media.ts'

/** A request as its caller sent it. */
export interface SentRequest {
  readonly dialect: Dialect
  /** JSON that has passed the schema of the dialect. */
  readonly body: Uint8Array
  /** Present: the caller wants no member left out (`require_parameters`). */
  readonly isDropRefused?: true
  /** What the request names and is not in its body; absent: nothing. */
  readonly contents?: NamedContents
}

/** What is written for an endpoint. */
export interface WriteTarget {
  readonly protocol: TextProtocol
  readonly terms: WriteTerms
}

export interface TranslationJob extends SentRequest, WriteTarget {
  /** The tokens of the prompt are counted: Gemini has a body of its own for it. */
  readonly isCount?: true
}

export type Translation =
  | {
      readonly ok: true
      readonly body: Uint8Array
      /** Members that the endpoint does not get, for `x-sluice-dropped`. */
      readonly dropped: readonly string[]
      /** Functions whose calls have other words in the caller's dialect; absent: none. */
      readonly origins?: readonly NamedOrigin[]
      /** Where contents come; absent: the job has none. */
      readonly places?: readonly ContentPlace[]
      /** Media that have to come as contents, and are addresses so far; absent: none. */
      readonly urls?: readonly MediumUrl[]
    }
  /** The endpoint cannot answer the request as its caller means it. */
  | { readonly ok: false; readonly issues: readonly Issue[] }

export function translateRequest({ protocol, terms, isCount, ...sent }: TranslationJob): Translation {
  const many = valueIssues(sent)
  if (many.length > 0) return { ok: false, issues: many }
  const prompt = promptFor(readSent(sent), sent, protocol)
  const { contents } = sent
  const write = isCount === true && protocol === 'gemini' ? writeGeminiCount : PROMPT_WRITERS[protocol]
  const written = write(prompt, terms)
  const issues = sent.isDropRefused === true ? lostIssues(prompt, terms, written) : written.refused
  if (issues.length > 0) return { ok: false, issues }
  // Memory of its own, which a thread can move.
  const json = new TextEncoder().encode(withoutMarks(JSON.stringify(written.body)))
  const origins = originsIn(prompt)
  const urls = urlsToFetch(prompt, protocol, terms)
  return {
    ok: true,
    body: json,
    dropped: written.dropped,
    ...(origins.length > 0 && { origins }),
    ...(contents !== undefined && { places: contentPlaces(json, contents) }),
    ...(urls.length > 0 && { urls }),
  }
}

function originsIn({ tools }: Prompt): readonly NamedOrigin[] {
  return tools.flatMap(({ name: called, origin }) => {
    if (origin === undefined) return []
    const { name, namespace, isFreeform } = origin
    return { called, origin: { name, namespace, isFreeform } }
  })
}

/** Nothing where the body may be parsed: each of its values takes memory of the thread that does. */
export function valueIssues({ body }: Pick<SentRequest, 'body'>): readonly Issue[] {
  return hasMoreValues(body, JSON_VALUES_MAX) ? [MANY_VALUES] : []
}

const MANY_VALUES: Issue = {
  path: '',
  message: 'has too many values to translate',
  expected: `at most ${JSON_VALUES_MAX} objects, lists and members, or an endpoint with the API of your call`,
}

/** Long integers stand in it as marks. */
export function readSent({ dialect, body }: SentRequest): Prompt {
  const { buffer, byteOffset, byteLength } = body
  const parsed = parseMarked(Buffer.from(buffer, byteOffset, byteLength).toString())
  return PROMPT_READERS[dialect](membersOf(parsed))
}

/** The prompt as an endpoint of the protocol gets it. */
export function promptFor(read: Prompt, { contents }: SentRequest, protocol: TextProtocol): Prompt {
  const named = read.dialect === protocol ? read : withFittingNames(withUniqueCalls(read))
  return contents === undefined ? named : withContents(named, contents, protocol)
}

/** A body that has passed the schema of its dialect, in the form between. D5. */
export const PROMPT_READERS: Readonly<Record<Dialect, (body: Members) => Prompt>> = {
  chat: readChat,
  responses: readResponses,
  messages: readMessages,
}
