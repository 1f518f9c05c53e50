/** A request of one form of calls as the request of another one. D5, D6. */
import type { Issue } from '../../failure-metadata.ts'
import type { TextProtocol } from '../../models/text-models.ts'
import { membersOf } from '../../values/members.ts'
import type { Dialect } from '../text-request.ts'
import { urlsToFetch, type MediumUrl } from './contents/fetched-urls.ts'
import { writeGeminiCount } from './gemini-request.ts'
import {
  contentPlaces,
  withContents,
  type ContentPlace,
  type NamedContents,
} from './contents/inline-contents.ts'
import type { NamedOrigin, Prompt } from './prompt.ts'
import { PROMPT_READERS } from './prompt-readers.ts'
import { PROMPT_WRITERS } from './prompt-writers.ts'
import type { WriteTerms } from './write-terms.ts'

export interface TranslationJob {
  readonly dialect: Dialect
  readonly protocol: TextProtocol
  /** JSON that has passed the schema of the dialect. */
  readonly body: Uint8Array
  readonly terms: WriteTerms
  /** The tokens of the prompt are counted: Gemini has a body of its own for it. */
  readonly isCount?: true
  /** What the request names and is not in its body; absent: nothing. */
  readonly contents?: NamedContents
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

export function translateRequest(job: TranslationJob): Translation {
  const { dialect, protocol, body, terms, isCount, contents } = job
  const { buffer, byteOffset, byteLength } = body
  const parsed: unknown = JSON.parse(Buffer.from(buffer, byteOffset, byteLength).toString())
  const read = PROMPT_READERS[dialect](membersOf(parsed))
  const prompt = contents === undefined ? read : withContents(read, contents, protocol)
  const write = isCount === true && protocol === 'gemini' ? writeGeminiCount : PROMPT_WRITERS[protocol]
  const written = write(prompt, terms)
  if (written.refused.length > 0) return { ok: false, issues: written.refused }
  // Memory of its own, which a thread can move.
  const json = new TextEncoder().encode(JSON.stringify(written.body))
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
