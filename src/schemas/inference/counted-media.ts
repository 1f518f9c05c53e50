import type { MediaCounts, PlacedModality, TextSize } from './text-request.ts'
import {
  PAGE_BYTES_ESTIMATED,
  PAGE_TOKENS_ESTIMATED,
  PAGES_BY_ADDRESS_ESTIMATED,
  PICTURE_TOKENS_ESTIMATED,
  SMALL_PICTURE_TOKENS_ESTIMATED,
  SOUND_BY_ADDRESS_TOKENS_ESTIMATED,
  SOUND_BYTES_PER_TOKEN,
  VIDEO_BY_ADDRESS_TOKENS_ESTIMATED,
  VIDEO_BYTES_PER_TOKEN,
} from './token-limits.ts'

type Kind = keyof MediaCounts

/** The most characters of the head of a `data:` URL. */
const DATA_HEAD_CHARS_MAX = 256
const DATA_HEAD = /^data:([^,;]*)(?:;[^,;]*)*,/i
/** Types whose base64 never contains text. A file of another type may be text, so its bytes count in the bound. */
const NO_TEXT = /^(?:(?:image|audio|video)\/|application\/pdf$)/i
/** Types of documents that are texts. */
const TEXT = /^(?:text\/|application\/(?:json|xml|yaml|x-ndjson)$)/i
const MEDIUM = /^(image|audio|video)\//i

export function isTextType(mimeType: unknown): boolean {
  return typeof mimeType === 'string' && TEXT.test(mimeType)
}

interface MediumForm {
  /** The member may contain base64 without the head of a `data:` URL. */
  readonly isBare?: boolean
  /** The model sees a small version of the picture (`detail: low`). */
  readonly isSmall?: boolean
  /** The modality that the part declares, and its path; absent: the part contains neither a content nor an address. */
  readonly at?: PlacedModality
}

/** The media of a request, with their share of its token bound and of an estimate. */
export class CountedMedia {
  readonly counts = { image: 0, audio: 0, video: 0, file: 0 }
  /** Base64 characters that the bound does not count as text tokens. Each takes at least one byte of the body, more when escaped. */
  #base64 = 0
  #tokens = 0
  readonly #placed = new Map<string, string>()
  /** Characters of all base64, minus the bytes of the texts that it contains. */
  #notText = 0

  /** @param data the content, or its address; null: referred to by an id, or not readable here */
  add(kind: Kind, data: string | null, { isBare = false, isSmall = false, at }: MediumForm = {}): void {
    this.counts[kind]++
    const text = data ?? ''
    const start = text.slice(0, DATA_HEAD_CHARS_MAX)
    const [head = '', type = ''] = DATA_HEAD.exec(start) ?? []
    // A long text that is not an address.
    const isNaked = !start.includes(':') && (isBare || start.length === DATA_HEAD_CHARS_MAX)
    const isBase64 = head === '' ? isNaked : /;base64,$/i.test(head)
    const chars = isBase64 ? text.length - head.length : 0
    if (head === '') this.#base64 += isBare ? text.length : 0
    else if (NO_TEXT.test(type)) this.#base64 += chars
    const bytes = Math.floor((3 * chars) / 4)
    this.#notText += TEXT.test(type) ? chars - bytes : chars
    if (TEXT.test(type)) return
    const known = MEDIUM.exec(type)?.[1]?.toLowerCase() as 'image' | 'audio' | 'video' | undefined
    if (at !== undefined) this.#place(type === '' ? at.name : (known ?? 'file'), at.path)
    // The text is in the body and already counted.
    if (head !== '' && !isBase64) return
    this.#tokens += estimatedTokens(known ?? kind, chars === 0 ? null : bytes, isSmall)
  }

  #place(name: string, path: string): void {
    if (!this.#placed.has(name)) this.#placed.set(name, path)
  }

  /** @param bytes of the whole body @param escaped those of `bytes` that escapes take beyond their characters */
  sizes(bytes: number, escaped: number): Pick<TextSize, 'promptBytesMost' | 'text' | 'media' | 'placed'> {
    const textBytes = Math.max(0, bytes - this.#notText - escaped)
    const placed = [...this.#placed].map(([name, path]): PlacedModality => ({ name, path }))
    return {
      promptBytesMost: Math.max(0, bytes - this.#base64),
      text: { bytes: textBytes, mediaTokens: this.#tokens },
      media: this.counts,
      ...(placed.length > 0 && { placed }),
    }
  }
}

/**
 * Estimated tokens of a medium: a typical number for its kind, since its content is not read.
 * @param bytes of its content; null: the medium is given by address or id
 */
export function estimatedTokens(kind: Kind, bytes: number | null, isSmall = false): number {
  switch (kind) {
    case 'image':
      return isSmall ? SMALL_PICTURE_TOKENS_ESTIMATED : PICTURE_TOKENS_ESTIMATED
    case 'audio':
      return bytes === null ? SOUND_BY_ADDRESS_TOKENS_ESTIMATED : Math.ceil(bytes / SOUND_BYTES_PER_TOKEN)
    case 'video':
      return bytes === null ? VIDEO_BY_ADDRESS_TOKENS_ESTIMATED : Math.ceil(bytes / VIDEO_BYTES_PER_TOKEN)
    case 'file': {
      const pages = bytes === null ? PAGES_BY_ADDRESS_ESTIMATED : Math.ceil(bytes / PAGE_BYTES_ESTIMATED)
      return pages * PAGE_TOKENS_ESTIMATED
    }
  }
}
