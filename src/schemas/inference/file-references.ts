import { fail, ok, type Outcome } from '../failures.ts'
import type { Issue } from '../failure-metadata.ts'
import { isFileId } from '../files/files.ts'
import type { KeptForm } from '../kept-body.ts'
import { membersOf, type Members } from '../values/members.ts'
import { pointerOf, type JsonPath } from '../values/json-path.ts'
import { INLINE_FILES_MAX } from './inference-limits.ts'

/**
 * The kind of object that refers to a file: a part `file` of a chat, `input_file` and `input_image` of
 * responses, a block `image` or `document` of messages.
 */
export type FileUse = 'file' | 'input_file' | 'input_image' | 'image' | 'document'

/** A file of the workspace that a request refers to by id. */
export interface FileReference {
  readonly id: string
  readonly use: FileUse
  /** The object that has the member `file_id`. */
  readonly at: JsonPath
}

/** Members that refer to another content or contain it. Next to a file id, such a member must be null. */
const OTHER_CONTENT: Readonly<Record<FileUse, readonly string[]>> = {
  file: ['file_data'],
  input_file: ['file_data', 'file_url'],
  input_image: ['image_url'],
  image: ['data', 'url'],
  document: ['data', 'url'],
}

/** Members of the objects around an id whose places are kept. */
export const FILE_MEMBERS: readonly string[] = [
  'type',
  'file_id',
  'filename',
  'media_type',
  ...new Set(Object.values(OTHER_CONTENT).flat()),
  'file',
  'input_audio',
]

/** The objects in a body whose members' places are kept; in a chat, two for each file. */
export const FILE_OBJECTS: NonNullable<KeptForm['objects']> = {
  names: FILE_MEMBERS,
  pathsOf: (digest) => ((digest as DigestWithFiles).files ?? []).flatMap(objectsOf),
}

/** A chat part contains the object in a member next to its type; other parts are themselves the object. */
function objectsOf({ use, at }: FileReference): readonly JsonPath[] {
  return use === 'file' ? [at.slice(0, -1), at] : [at]
}

interface DigestWithFiles {
  readonly files?: readonly FileReference[]
}

/** The files of a chat: parts `file` of messages. Providers' file ids are left unchanged. */
export function chatFiles(messages: readonly Members[]): Outcome<readonly FileReference[]> {
  const found = new Found()
  for (const [nth, { content }] of messages.entries())
    eachPart(content, (part, at) => {
      if (part['type'] === 'file') found.add('file', part['file'], ['messages', nth, 'content', at, 'file'])
    })
  return found.outcome
}

/** The files of responses: parts of messages, and of outputs of tools. */
export function responsesFiles(items: readonly Members[]): Outcome<readonly FileReference[]> {
  const found = new Found()
  for (const [nth, item] of items.entries())
    for (const name of ['content', 'output'])
      eachPart(item[name], (part, at) => {
        const { type } = part
        if (type === 'input_file' || type === 'input_image') found.add(type, part, ['input', nth, name, at])
      })
  return found.outcome
}

/** The files of messages: sources of pictures and documents, also in the results of tools. */
export function messagesFiles(messages: readonly Members[]): Outcome<readonly FileReference[]> {
  const found = new Found()
  const addAll = (blocks: unknown, within: JsonPath): void =>
    eachPart(blocks, ({ type, source, content }, nth) => {
      if (type === 'tool_result') return addAll(content, [...within, nth, 'content'])
      if (type !== 'image' && type !== 'document') return
      const { type: form, content: inner } = membersOf(source)
      if (form === 'file') found.add(type, source, [...within, nth, 'source'])
      else if (form === 'content') addAll(inner, [...within, nth, 'source', 'content'])
    })
  for (const [nth, { content }] of messages.entries()) addAll(content, ['messages', nth, 'content'])
  return found.outcome
}

/** @param parts of a message; a text has no parts */
function eachPart(parts: unknown, look: (part: Members, nth: number) => void): void {
  if (!Array.isArray(parts)) return
  for (const [nth, part] of (parts as readonly unknown[]).entries()) look(membersOf(part), nth)
}

export function filesMember(
  files: readonly FileReference[],
): { readonly files: readonly FileReference[] } | null {
  return files.length === 0 ? null : { files }
}

class Found {
  readonly #files: FileReference[] = []
  #issue: Issue | null = null

  get outcome(): Outcome<readonly FileReference[]> {
    return this.#issue === null
      ? ok(this.#files)
      : fail('body_invalid', { metadata: { issues: [this.#issue] } })
  }

  /** @param object may have the id of a file */
  add(use: FileUse, object: unknown, at: JsonPath): void {
    const members = membersOf(object)
    const { file_id: id } = members
    if (typeof id !== 'string' || !isFileId(id)) return
    const other = OTHER_CONTENT[use].find((name) => (members[name] ?? null) !== null)
    if (other !== undefined)
      this.#refuse({
        path: pointerOf([...at, other]),
        message: 'must not be sent together with `file_id`',
        expected: 'null',
      })
    if (this.#files.length === INLINE_FILES_MAX)
      this.#refuse({
        path: pointerOf([...at, 'file_id']),
        message: 'exceeds the number of files allowed',
        expected: `at most ${INLINE_FILES_MAX} files`,
      })
    else this.#files.push({ id, use, at })
  }

  #refuse(issue: Issue): void {
    this.#issue ??= issue
  }
}
