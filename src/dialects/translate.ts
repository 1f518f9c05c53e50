/** Translates a request of one dialect to the request of another protocol. */
import type { Issue } from '../schemas/failure-metadata.ts'
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
import { BACKSLASH, COMMA, OPEN_LIST, OPEN_OBJECT, QUOTE } from '../schemas/values/json-bytes.ts'
import { ChatParts, chatWhole } from './chat/parts.ts'
import { GeminiPartStream, geminiWhole } from './gemini/parts.ts'
import { MessagesParts, messageWhole } from './messages/parts.ts'
import type { ReadLarge } from './part-events.ts'
import { ResponsesParts, responseWhole } from './responses/parts.ts'
import type { PartStream, WholeParts, WholeRead, FailureOf, WholeAsked } from './parts.ts'
import { ok } from '../schemas/failures.ts'
import { OriginalCalls } from './original-calls.ts'
import type { TextProtocol } from '../schemas/models/protocols.ts'
import { JSON_VALUES_MAX } from '../schemas/limits/limits.ts'

export interface SentRequest {
  readonly dialect: Dialect
  /** JSON that has passed the schema of the dialect. */
  readonly body: Uint8Array
  /** Present: the caller forbids dropping members (`require_parameters`). */
  readonly isDropRefused?: true
  /** Contents that the request refers to and that are not in its body; absent: none. */
  readonly contents?: NamedContents
}

export interface WriteTarget {
  readonly protocol: TextProtocol
  readonly terms: WriteTerms
}

export interface TranslationJob extends SentRequest, WriteTarget {
  /** The call counts the tokens of the prompt, for which Gemini has a separate form of body. */
  readonly isCount?: true
}

export type Translation =
  | {
      readonly ok: true
      readonly body: Uint8Array
      /** Members that the endpoint does not get, for `x-sluice-dropped`. */
      readonly dropped: readonly string[]
      /** Functions whose calls have another name or form in the caller's dialect; absent: none. */
      readonly origins?: readonly NamedOrigin[]
      /** Places where contents are inserted; absent: none. */
      readonly places?: readonly ContentPlace[]
      /** Media that are still URLs and have to be inserted as contents; absent: none. */
      readonly urls?: readonly MediumUrl[]
    }
  /** The endpoint cannot answer the request as the caller intends it. */
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
  // Separate memory, which can be transferred to another thread.
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

/** Empty if the body may be parsed. The number of values is limited, since each takes memory of the parsing thread. */
export function valueIssues({ body }: Pick<SentRequest, 'body'>): readonly Issue[] {
  return hasMoreValues(body, JSON_VALUES_MAX) ? [MANY_VALUES] : []
}

const MANY_VALUES: Issue = {
  path: '',
  message: 'has too many values to translate',
  expected: `at most ${JSON_VALUES_MAX} objects, lists and members, or an endpoint with the API of your call`,
}

/** Long integers in the result are replaced by marks. */
export function readSent({ dialect, body }: SentRequest): Prompt {
  const { buffer, byteOffset, byteLength } = body
  const parsed = parseMarked(Buffer.from(buffer, byteOffset, byteLength).toString())
  return PROMPT_READERS[dialect](membersOf(parsed))
}

export function promptFor(read: Prompt, { contents }: SentRequest, protocol: TextProtocol): Prompt {
  const named = read.dialect === protocol ? read : withFittingNames(withUniqueCalls(read))
  return contents === undefined ? named : withContents(named, contents, protocol)
}

/** Readers that convert a body that has passed its dialect's schema to the intermediate form. */
export const PROMPT_READERS: Readonly<Record<Dialect, (body: Members) => Prompt>> = {
  chat: readChat,
  responses: readResponses,
  messages: readMessages,
}

/**
 * Whether JSON has more objects, lists and members than `most`: each takes many times its bytes once parsed.
 * Builds no values and takes about 1 ms for 500 KB.
 */
export function hasMoreValues(json: Uint8Array, most: number): boolean {
  // Each of them takes at least one byte.
  if (json.length <= most) return false
  const bytes = Buffer.from(json.buffer, json.byteOffset, json.length)
  let values = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === QUOTE) at = endOfText(bytes, at)
    else if (byte === COMMA || byte === OPEN_OBJECT || byte === OPEN_LIST) values++
    if (values > most) return true
  }
  return false
}

/** @param from the quote before the text. @returns the place of the closing quote, or the end of the bytes */
function endOfText(bytes: Buffer, from: number): number {
  for (let at = bytes.indexOf(QUOTE, from + 1); at !== -1; at = bytes.indexOf(QUOTE, at + 1)) {
    let escapes = 0
    while (bytes[at - 1 - escapes] === BACKSLASH) escapes++
    if (escapes % 2 === 0) return at
  }
  return bytes.length
}

export interface AnswerTerms {
  /** Format of signatures, for a provider that uses another maker's protocol but signs with its own keys. */
  readonly format?: string
  /** The tier that the headers of the answer report; null: none. */
  readonly tier?: string | null
}

interface StreamTerms extends AnswerTerms {
  /** As in `PartEvents`. */
  readonly readLarge?: ReadLarge
}

export interface PartProtocol {
  stream(failureOf: FailureOf, terms?: StreamTerms): PartStream
  /** Failures: as for a stream with this answer, except upstream_invalid for an incomplete answer. */
  whole(body: Buffer, terms?: AnswerTerms): WholeRead<WholeParts>
}

export const PART_PROTOCOLS: Readonly<Record<TextProtocol, PartProtocol>> = {
  chat: { stream: (failureOf, { readLarge } = {}) => new ChatParts(failureOf, readLarge), whole: chatWhole },
  responses: {
    stream: (failureOf, { format, readLarge } = {}) => new ResponsesParts(failureOf, format, readLarge),
    whole: (body, { format } = {}) => responseWhole(body, format),
  },
  messages: {
    stream: (failureOf, { readLarge } = {}) => new MessagesParts(failureOf, readLarge),
    whole: messageWhole,
  },
  gemini: {
    stream: (failureOf, { readLarge, tier } = {}) => new GeminiPartStream(failureOf, { readLarge, tier }),
    whole: (body, { tier } = {}) => geminiWhole(body, tier),
  },
}

export function wholeParts({
  protocol,
  answer,
  signatureFormat: format,
  tier,
  origins,
}: WholeAsked): WholeRead<WholeParts> {
  const body = Buffer.from(answer.buffer, answer.byteOffset, answer.length)
  const read = PART_PROTOCOLS[protocol].whole(body, { format, tier })
  if (!read.ok || origins.length === 0) return read
  return ok({ ...read.value, parts: new OriginalCalls(origins).of(read.value.parts) })
}
