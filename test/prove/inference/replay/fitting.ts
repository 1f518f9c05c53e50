/** Requests of generators without what Sluice refuses before it calls a provider of another form. */
import type { Dialect } from '../../../../src/schemas/inference/text-request.ts'
import { membersOf, type Members } from '../../../../src/schemas/values/members.ts'
import type { TextProtocol } from '../../../../src/schemas/models/protocols.ts'

/** Which of several URLs cannot be fetched first is chance, and so all are one. */
const URLS = ['http://x.example/%20?a=b#c', 'https://ü.example/']
const ONE_URL = 'https://x.example/a.pdf'

/** Members that providers of a form do not take. */
const NOT_TAKEN: Readonly<Partial<Record<TextProtocol, readonly string[]>>> = {
  responses: ['stop', 'stop_sequences'],
}

export function withOneUrl(body: Members): Members {
  const json = URLS.reduce((all, url) => all.replaceAll(url, ONE_URL), JSON.stringify(body))
  return JSON.parse(json) as Members
}

/** @param forms of the providers that may be called */
export function fitting(body: Members, dialect: Dialect, forms: readonly TextProtocol[]): Members {
  const others = forms.filter((form) => form !== dialect)
  if (others.length === 0) return body
  const left = others.flatMap((form) => NOT_TAKEN[form] ?? [])
  const taken = Object.entries(body).filter(([name]) => !left.includes(name))
  const json = JSON.stringify(Object.fromEntries(taken), (_, value: unknown) => fittingPart(value, others))
  return JSON.parse(json) as Members
}

const PICTURE = 'iVBORw0KGgoAAAANSUhEUg=='
const PICTURE_URL = `data:image/png;base64,${PICTURE}`
const DOCUMENT = 'JVBERi0xLjQK'

/** Gemini takes no URLs, no form takes one of a document, and messages takes no format without a schema. */
function fittingPart(value: unknown, forms: readonly TextProtocol[]): unknown {
  const part = membersOf(value)
  const isGemini = forms.includes('gemini')
  const isOfUrl = membersOf(part['source'])['type'] === 'url'
  switch (part['type']) {
    case 'input_audio':
    case 'video_url':
      return { type: 'text', text: 'é' }
    case 'json_object':
      return forms.includes('messages') ? { type: 'text' } : part
    case 'image_url':
      return isGemini ? { ...part, image_url: { url: PICTURE_URL } } : part
    case 'input_image':
      return isGemini ? { ...part, image_url: PICTURE_URL } : part
    case 'image':
      return isGemini && isOfUrl ? { ...part, source: sourceOf('image/png', PICTURE) } : part
    case 'document':
      return isOfUrl ? { ...part, source: sourceOf('application/pdf', DOCUMENT) } : part
    case 'input_file':
      return 'file_url' in part
        ? { type: 'input_file', filename: 'a.pdf', file_data: fileOf(DOCUMENT) }
        : part
    default:
      return value
  }
}

function sourceOf(mediaType: string, data: string): Members {
  return { type: 'base64', media_type: mediaType, data }
}

function fileOf(data: string): string {
  return `data:application/pdf;base64,${data}`
}
