/** Contents of files and URLs in a request to a provider: each is inserted while the request is sent. */
import { inlineFormOf, SOUND_FORMATS } from '../../schemas/inference/inline-files.ts'
import type { Media, Prompt, PromptFile, PromptImage, Turn, UserPart } from './prompt.ts'
import { isWebAddress } from './media.ts'
import type { TextProtocol } from '../../schemas/models/protocols.ts'

export interface NamedContent {
  /** The id of a file, or an address. */
  readonly name: string
  readonly mimeType: string
  /** Name of the file, for protocols that require one for documents; null: it has none. */
  readonly filename: string | null
}

export interface NamedContents {
  /**
   * Prefix of the placeholder of each content. Random for each request, since a caller who knew it could
   * insert contents anywhere in the request.
   */
  readonly mark: string
  /** At most 100, since a placeholder has a two-digit number. */
  readonly list: readonly NamedContent[]
}

const NTH_CHARS = 2
/** Mark in the placeholder of a content that is inserted as base64. */
const AS_BASE64 = 'b'
const AS_TEXT = 't'

/** A place of a content in the bytes of a written request. */
export interface ContentPlace {
  /** The placeholder is `[start, end)`. */
  readonly start: number
  readonly end: number
  /** Index in the list of contents. */
  readonly nth: number
  /** The content is inserted as text within a JSON string; false: as base64. */
  readonly isText: boolean
}

/** Protocols whose makers require a name for documents. */
const NAMING: readonly TextProtocol[] = ['chat', 'responses']

export function withContents(prompt: Prompt, contents: NamedContents, protocol: TextProtocol): Prompt {
  const placing = new Placing(contents, NAMING.includes(protocol))
  return { ...prompt, turns: prompt.turns.map((turn) => placing.turn(turn)) }
}

/** The places of contents in the request written from such a prompt, in order. */
export function contentPlaces(json: Uint8Array, { mark }: NamedContents): readonly ContentPlace[] {
  const bytes = Buffer.from(json.buffer, json.byteOffset, json.length)
  const places: ContentPlace[] = []
  for (let start = bytes.indexOf(mark); start !== -1;) {
    const at = start + mark.length
    const end = at + AS_TEXT.length + NTH_CHARS
    const [form, nth] = [bytes.toString('latin1', at, at + 1), bytes.toString('latin1', at + 1, end)]
    places.push({ start, end, nth: Number(nth), isText: form === AS_TEXT })
    start = bytes.indexOf(mark, end)
  }
  return places
}

class Placing {
  readonly #contents: NamedContents
  readonly #isNaming: boolean
  readonly #nths: ReadonlyMap<string, number>

  constructor(contents: NamedContents, isNaming: boolean) {
    this.#contents = contents
    this.#isNaming = isNaming
    this.#nths = new Map(contents.list.map(({ name }, nth) => [name, nth]))
  }

  turn(turn: Turn): Turn {
    if (turn.role === 'user') return { ...turn, parts: turn.parts.map((part) => soundOf(this.#part(part))) }
    return turn.role === 'tool' ? { ...turn, parts: turn.parts.map((part) => this.#part(part)) } : turn
  }

  #part<P extends UserPart>(part: P): P | PromptImage | PromptFile {
    const given: UserPart = part
    if (given.kind !== 'image' && given.kind !== 'file') return part
    const found = this.#contentOf(given.media)
    if (found === null) return part
    const { media, filename } = found
    if (given.kind === 'image') return { ...given, media }
    const { kind: _, filename: own, ...located } = given
    // In chat, pictures are image parts, not documents.
    if (inlineFormOf('file', media.mimeType) === 'image')
      return { kind: 'image', ...located, media, detail: null }
    return { ...given, media, filename: own ?? (this.#isNaming ? filename : null) }
  }

  /**
   * Undefined: no content has the name. A URL must name a fetched content and an id must name a file, since
   * the cost bound of the call depends on which of the two it is.
   */
  #nthOf(media: Media): number | undefined {
    if (media.kind === 'base64') return undefined
    const isUrl = media.kind === 'url'
    const name = isUrl ? media.url : media.id
    return isUrl === isWebAddress(name) ? this.#nths.get(name) : undefined
  }

  #contentOf(media: Media): { readonly media: Base64; readonly filename: string | null } | null {
    const nth = this.#nthOf(media)
    const content = this.#contents.list[nth ?? -1]
    if (nth === undefined || content === undefined) return null
    const { mimeType, filename } = content
    const standing = (form: string): string =>
      `${this.#contents.mark}${form}${String(nth).padStart(NTH_CHARS, '0')}`
    return {
      media: { kind: 'base64', mimeType, data: standing(AS_BASE64), text: standing(AS_TEXT) },
      filename,
    }
  }
}

type Base64 = Extract<Media, { readonly kind: 'base64' }>

/** Converts a sound that a chat contains as a document; tool results contain no sounds. */
function soundOf(part: UserPart): UserPart {
  if (part.kind !== 'file' || part.media.kind !== 'base64') return part
  const { media, cache, path } = part
  const format = SOUND_FORMATS[media.mimeType]
  if (format === undefined || media.text === undefined) return part
  return { kind: 'audio', format, data: media.data, cache, ...(path !== undefined && { path }) }
}
