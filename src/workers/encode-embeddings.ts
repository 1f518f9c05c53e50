import type { EmbeddingInput, EmbeddingPart } from '../schemas/embeddings/embeddings.ts'
import { cohereInputType, googleTask } from '../schemas/embeddings/input-types.ts'
import type { ShortJobTypes } from '../server/ports/short-jobs.ts'
import { KIB } from '../schemas/limits/limits.ts'

/**
 * Inputs of a call whose body is rewritten for a provider that does not speak OpenAI's protocol. Decision.
 */
export const REWRITTEN_INPUTS_MAX = 64 * KIB

type Encoding = ShortJobTypes['encode_embeddings']
type Part = Record<string, unknown>

/** Writes the body of one call in another protocol: Cohere's `POST /v2/embed`, Gemini's `:batchEmbedContents`. */
export function encodeEmbeddings(job: Encoding['in']): Encoding['out'] {
  const input =
    job.input instanceof Uint8Array
      ? (JSON.parse(new TextDecoder().decode(job.input)) as EmbeddingInput)
      : job.input
  const contents = contentsOf(input)
  if (contents !== null && contents.length > REWRITTEN_INPUTS_MAX)
    return { ok: false, detail: `The provider accepts at most ${REWRITTEN_INPUTS_MAX} vectors at once.` }
  if (contents === null) return { ok: false, detail: 'The provider does not accept token lists.' }
  try {
    const body = job.protocol === 'cohere' ? cohereBody(job, contents) : googleBody(job, contents)
    return { ok: true, body: new TextEncoder().encode(JSON.stringify(body)) }
  } catch (error) {
    if (error instanceof PartRefused) return { ok: false, detail: error.message }
    throw error
  }
}

/** Thrown while the parts are visited; never leaves this file. */
class PartRefused extends Error {}

/** A list of parts for each requested vector; a text alone stays a text. Null for token lists. */
function contentsOf(input: EmbeddingInput): readonly (string | readonly EmbeddingPart[])[] | null {
  if (typeof input === 'string') return [input]
  const contents: (string | readonly EmbeddingPart[])[] = []
  for (const item of input) {
    if (typeof item === 'number' || Array.isArray(item)) return null
    contents.push(typeof item === 'string' ? item : item.content)
  }
  return contents
}

function cohereBody(job: Encoding['in'], contents: readonly (string | readonly EmbeddingPart[])[]): Part {
  const texts = contents.filter((content) => typeof content === 'string')
  return {
    model: job.upstreamModel,
    // Every model since v3 requires the field; most callers store documents.
    input_type: cohereInputType(job.inputType ?? 'document'),
    embedding_types: ['float'],
    ...(job.dimensions === null ? {} : { output_dimension: job.dimensions }),
    ...(texts.length === contents.length
      ? { texts }
      : { inputs: contents.map((content) => ({ content: partsOf(content).map(coherePart) })) }),
  }
}

function coherePart(part: EmbeddingPart): Part {
  if (part.type === 'text') return { type: 'text', text: part.text }
  if (part.type === 'image_url') return { type: 'image_url', image_url: { url: part.image_url.url } }
  throw new PartRefused('The provider accepts only text and images.')
}

function googleBody(job: Encoding['in'], contents: readonly (string | readonly EmbeddingPart[])[]): Part {
  const taskType = job.inputType === null ? undefined : googleTask(job.inputType)
  const requests = contents.map((content) => ({
    model: `models/${job.upstreamModel}`,
    content: { parts: partsOf(content).map(googlePart) },
    ...(taskType === undefined ? {} : { taskType }),
    ...(job.dimensions === null ? {} : { outputDimensionality: job.dimensions }),
  }))
  return { requests }
}

function googlePart(part: EmbeddingPart): Part {
  switch (part.type) {
    case 'text':
      return { text: part.text }
    case 'image_url':
      return { inlineData: inlineData(part.image_url.url, null) }
    case 'input_audio':
      return {
        inlineData: inlineData(part.input_audio.data, mimeOf('audio', part.input_audio.format ?? 'wav')),
      }
    case 'input_video':
      return {
        inlineData: inlineData(part.input_video.data, mimeOf('video', part.input_video.format ?? 'mp4')),
      }
    case 'input_file':
      return {
        inlineData: inlineData(part.input_file.data, mimeOf('application', part.input_file.format ?? 'pdf')),
      }
  }
}

const DATA_URL = /^data:([\w.+-]+\/[\w.+-]+)[^,]*;base64,/

/** Media are sent within the request: with a link the provider would fetch an address that a caller chose. */
function inlineData(data: string, mimeType: string | null): Part {
  const url = DATA_URL.exec(data.slice(0, 256))
  if (url?.[1] !== undefined) return { mimeType: url[1], data: data.slice(url[0].length) }
  if (mimeType === null || data.includes(':'))
    throw new PartRefused('The provider accepts media only as base64 data URLs.')
  return { mimeType, data }
}

function mimeOf(kind: string, format: string): string {
  return format.includes('/') ? format : `${kind}/${MIME_SUBTYPES.get(format) ?? format}`
}

const MIME_SUBTYPES: ReadonlyMap<string, string> = new Map([
  ['mp3', 'mpeg'],
  ['mov', 'quicktime'],
])

function partsOf(content: string | readonly EmbeddingPart[]): readonly EmbeddingPart[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content
}
