import { membersOf, type Members } from '../../schemas/values/members.ts'
import { pointerOf, type JsonPath } from '../../schemas/values/json-path.ts'
import { isEmptyText, speaking } from '../prompt/cache-points.ts'
import { mediaOfUrl, urlOfMedia, audioOf, detailOf, fileMedia, soundMembers } from '../prompt/media.ts'
import { cachePointOf, textOf, type Others } from '../prompt/others.ts'
import type { PromptFile, PromptRefusal, UserPart } from '../prompt/prompt.ts'
import { usedMembers } from '../table/nested-table.ts'

export type ItemPart = UserPart | PromptRefusal

/** The members of each type of part. */
const USED: ReadonlyMap<unknown, ReadonlySet<string>> = new Map(
  ['input_text', 'output_text', 'refusal', 'input_image', 'input_audio', 'input_video', 'input_file'].map(
    (type) => [type, usedMembers('responses', 'parts', { type })],
  ),
)
const SOUND = 'input_audio'
const SOUND_MEMBERS = usedMembers('responses', 'parts', { type: SOUND, inner: SOUND })

/** Parts of a message or of a tool result. Empty texts are left out. */
export function readItemContent(content: unknown, path: JsonPath, others: Others): readonly ItemPart[] {
  if (typeof content === 'string') return content === '' ? [] : [{ kind: 'text', text: content, cache: null }]
  if (!Array.isArray(content)) {
    others.addUnread('input.content', content, path)
    return []
  }
  const parts = (content as readonly unknown[]).flatMap((one, nth) => {
    const place = [...path, nth]
    const part = membersOf(one)
    const used = USED.get(part['type'])
    const read = used === undefined ? null : readPart(part, place, others)
    if (used === undefined || read === null) {
      others.add('input.content', place)
      return []
    }
    others.addRest(part, used, { path: place })
    return read
  })
  return speaking(parts, isEmptyText, () => others.add('cache_control', path))
}

/** Null: the part has no content. */
function readPart(part: Members, path: JsonPath, others: Others): ItemPart | null {
  const cache = cachePointOf(part['cache_control'] ?? part['prompt_cache_breakpoint'])
  const located = { cache, path: pointerOf(path) }
  switch (part['type']) {
    case 'input_text':
    case 'output_text':
      return { kind: 'text', text: textOf(part['text']) ?? '', cache }
    case 'refusal':
      return { kind: 'refusal', text: textOf(part['refusal']) ?? '', cache }
    case 'input_image': {
      const [url, id] = [textOf(part['image_url']), textOf(part['file_id'])]
      const media = url === null ? fileMedia(null, id) : mediaOfUrl(url)
      if (url !== null) others.addUnread('file_id', id, [...path, 'file_id'])
      return media === null ? null : { kind: 'image', media, detail: detailOf(part['detail']), ...located }
    }
    case SOUND: {
      const sound = membersOf(part[SOUND])
      others.addRest(sound, SOUND_MEMBERS, { path: [...path, SOUND] })
      return audioOf(sound, located)
    }
    case 'input_video': {
      const url = textOf(part['video_url'])
      return url === null ? null : { kind: 'video', media: mediaOfUrl(url), ...located }
    }
    default: {
      const [data, url] = [textOf(part['file_data']), textOf(part['file_url'])]
      if (data !== null) others.addUnread('file_url', url, [...path, 'file_url'])
      if ((data ?? url) !== null) others.addUnread('file_id', part['file_id'], [...path, 'file_id'])
      const media = data === null && url !== null ? mediaOfUrl(url) : fileMedia(data, textOf(part['file_id']))
      return media === null ? null : { kind: 'file', media, filename: textOf(part['filename']), ...located }
    }
  }
}

/** @param type of its texts; texts of the model have a different type */
export function writeItemPart(part: ItemPart, type: 'input_text' | 'output_text'): Members {
  switch (part.kind) {
    case 'text':
      return { type, text: part.text }
    case 'refusal':
      return { type: 'refusal', refusal: part.text }
    case 'image': {
      const detail = part.detail ?? 'auto'
      const { media } = part
      if (media.kind === 'file_id') return { type: 'input_image', file_id: media.id, detail }
      return { type: 'input_image', image_url: urlOfMedia(media), detail }
    }
    case 'audio':
      return { type: SOUND, [SOUND]: soundMembers(part) }
    case 'video':
      return { type: 'input_video', video_url: urlOfMedia(part.media) }
    case 'file':
      return { type: 'input_file', ...fileMembers(part) }
  }
}

function fileMembers({ media, filename }: PromptFile): Members {
  const named = filename === null ? {} : { filename }
  switch (media.kind) {
    case 'file_id':
      return { ...named, file_id: media.id }
    case 'url':
      return { ...named, file_url: media.url }
    case 'base64':
      // OpenAI requires a file name.
      return { filename: filename ?? FILENAME, file_data: urlOfMedia(media) }
  }
}

const FILENAME = 'file'
