import type { Outcome } from '../../../../schemas/failures.ts'
import { FILE_MEMBERS } from '../../../../schemas/inference/file-references.ts'
import { inlineFormOf, SOUND_FORMATS, type InlineForm } from '../../../../schemas/inference/inline-files.ts'
import type { BodyEdit, HoleEdit } from '../../../../schemas/inference/provider-body.ts'
import type { KeptBody, MemberSpan } from '../../../../schemas/kept-body.ts'
import { QUOTE } from '../../../../schemas/values/json-bytes.ts'
import type { Content } from '../../../ports/byte-streams.ts'
import type { InlineFile } from '../../../ports/inference/inference.ts'

/** The place in a request of content that is read while the request is sent. */
export interface ContentHole {
  readonly file: ContentSource
  readonly form: InlineForm
}

export interface ContentSource {
  readonly sizeBytes: number
  /** As in `InlineFile`. */
  open(signal: AbortSignal): Promise<Outcome<Pick<Content, 'read' | 'close'>>>
}

/** The place of a file's content. */
export interface FileHole extends ContentHole {
  readonly file: InlineFile
}

export type FileEdit = BodyEdit | HoleEdit<FileHole>

const NONE: readonly FileEdit[] = []

/**
 * Replaces the ids of files by their content, in the form that each protocol has for inline content. All
 * other members of their parts stay as they are.
 * @param files of the request, in the order of its references
 */
export function fileEdits(body: KeptBody, files: readonly InlineFile[] = []): readonly FileEdit[] {
  if (files.length === 0) return NONE
  let nth = 0
  const next = (): Members => new Members(body, nth++)
  return files.flatMap((file) => {
    const form = inlineFormOf(file.use, file.mimeType)
    if (form === null) throw new Error('the content part does not accept the type of the file')
    return EDITS[file.use](next, { file, form })
  })
}

/** @param next the objects of the file, in their order */
type Edits = (next: () => Members, hole: FileHole) => readonly FileEdit[]

const EDITS: Readonly<Record<InlineFile['use'], Edits>> = {
  file: chatEdits,
  input_file: (next, hole) => documentEdits(next(), hole, ['file_url']),
  input_image(next, hole) {
    const part = next()
    return [
      ...part.hole('file_id', { before: `"image_url":"${dataHead(hole)}`, hole, after: '"' }),
      ...part.cuts(['image_url']),
    ]
  },
  image: sourceEdits,
  document: sourceEdits,
}

/** A part `file` contains the document; pictures and sounds are parts of other types. */
function chatEdits(next: () => Members, hole: FileHole): readonly FileEdit[] {
  const [part, object] = [next(), next()]
  const { form, file } = hole
  if (form === 'file') return [...documentEdits(object, hole, []), ...part.repeated('file')]
  const [type, text] =
    form === 'image'
      ? (['image_url', { before: `"url":"${dataHead(hole)}`, after: '"' }] as const)
      : ([
          'input_audio',
          { before: '"data":"', after: `","format":"${SOUND_FORMATS[file.mimeType]}"` },
        ] as const)
  return [
    ...part.set('type', `"${type}"`),
    ...part.hole('file', { before: `"${type}":{${text.before}`, hole, after: `${text.after}}` }),
    ...part.cuts([type]),
  ]
}

/** The caller's own name of the file takes precedence over the stored name. */
function documentEdits(object: Members, hole: FileHole, others: readonly string[]): readonly FileEdit[] {
  const isNamed = object.isText('filename')
  const name = isNamed ? '' : `"filename":${JSON.stringify(hole.file.filename)},`
  return [
    ...object.hole('file_id', { before: `${name}"file_data":"${dataHead(hole)}`, hole, after: '"' }),
    ...(isNamed ? object.repeated('filename') : object.cuts(['filename'])),
    ...object.cuts(['file_data', ...others]),
  ]
}

/** Edits the source of a block of the Messages dialect. */
function sourceEdits(next: () => Members, hole: FileHole): readonly FileEdit[] {
  const source = next()
  const isText = hole.form === 'text'
  const type = isText ? 'text/plain' : hole.file.mimeType
  return [
    ...source.set('type', isText ? '"text"' : '"base64"'),
    ...source.hole('file_id', { before: `"media_type":"${type}","data":"`, hole, after: '"' }),
    ...source.cuts(['media_type', 'data', 'url']),
  ]
}

function dataHead({ file }: FileHole): string {
  return `data:${file.mimeType};base64,`
}

/** The kept members of an object. Several may have the same name; the last of them counts. */
class Members {
  readonly #body: KeptBody
  readonly #spans: readonly MemberSpan[]

  constructor(body: KeptBody, nth: number) {
    this.#body = body
    this.#spans = body.object(nth, FILE_MEMBERS)
  }

  isText(name: string): boolean {
    const last = this.#last(name)
    return last !== undefined && this.#body.bytes[last.start] === QUOTE
  }

  /** Sets the last member of the name; the others are removed. */
  set(name: string, json: string): readonly FileEdit[] {
    const mark = this.#last(name)
    return mark === undefined ? NONE : [{ kind: 'set_mark', mark, json }, ...this.repeated(name)]
  }

  /** Replaces the last member of the name; the others are removed. */
  hole(name: string, edit: Omit<HoleEdit<FileHole>, 'kind' | 'mark'>): readonly FileEdit[] {
    const mark = this.#last(name)
    if (mark === undefined) throw new Error(`the file object has no ${name}`)
    return [{ kind: 'hole', mark, ...edit }, ...this.repeated(name)]
  }

  cuts(names: readonly string[]): readonly FileEdit[] {
    return this.#spans.filter(({ name }) => names.includes(name)).map((mark) => ({ kind: 'cut_mark', mark }))
  }

  /** Removes all members of the name except the last. */
  repeated(name: string): readonly FileEdit[] {
    return this.cuts([name]).slice(0, -1)
  }

  #last(wanted: string): MemberSpan | undefined {
    return this.#spans.findLast(({ name }) => name === wanted)
  }
}
