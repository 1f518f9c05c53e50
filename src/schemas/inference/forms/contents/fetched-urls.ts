/** Media that a request names by addresses, for protocols that take no addresses of them. D31. */
import type { TextProtocol } from '../../../models/text-models.ts'
import { pointerOf } from '../../../values/json-path.ts'
import type { Prompt } from '../../../../dialects/prompt.ts'
import type { WriteTerms } from '../../../../dialects/write-terms.ts'

export interface MediumUrl {
  readonly url: string
  /** JSON pointer of its part in the caller's body. */
  readonly path: string
  /** It has to be a picture; false: a document, a picture or a sound. */
  readonly isImage: boolean
}

/** Addresses that Google reads by itself: films, and what its own clients have stored there. */
const OF_GOOGLE = /^https:\/\/(?:generativelanguage\.googleapis\.com|(?:www\.|m\.)?youtube\.com|youtu\.be)\//i

const PICTURE_DATA = /^data:image\//i

/** Whether something might be fetched from there. */
export function isWebAddress(url: string): boolean {
  return /^https?:/i.test(url)
}

/**
 * Whether what stands at the place of a picture is one as far as its type or address tells. Google reads
 * documents, texts and films at the place of a picture, too. D25.
 * @param url an address, or the content itself
 */
export function isPictureUrl(url: string): boolean {
  return PICTURE_DATA.test(url) || (isWebAddress(url) && !OF_GOOGLE.test(url))
}

/** Each address once. */
export function urlsToFetch(
  { turns }: Prompt,
  protocol: TextProtocol,
  { isStrict }: Pick<WriteTerms, 'isStrict'>,
): readonly MediumUrl[] {
  const found = new Map<string, MediumUrl>()
  for (const turn of turns)
    for (const part of turn.parts) {
      if ((part.kind !== 'image' && part.kind !== 'file') || part.media.kind !== 'url') continue
      const { kind, media, path = pointerOf([]) } = part
      const isTaken =
        protocol === 'gemini'
          ? OF_GOOGLE.test(media.url)
          : protocol !== 'chat' || !isStrict || kind === 'image'
      if (isTaken || !isWebAddress(media.url)) continue
      const isImage = kind === 'image' || found.get(media.url)?.isImage === true
      found.set(media.url, { url: media.url, path, isImage })
    }
  return [...found.values()]
}
