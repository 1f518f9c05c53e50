import Type, { type Static, type TSchema } from 'typebox'
import { CONTAINER_ID_PATTERN, containerFileId } from '../containers/container-paths.ts'
import type { Issue } from '../failure-metadata.ts'
import { FILES_PAGE_DEFAULT, FILES_PAGE_MAX, PURPOSE_CHARS_MAX } from './file-limits.ts'

/** The most ids in one list of files: the limit of Anthropic's clients. Decision. */
export const FILE_IDS_MAX = 100

const nullable = <T extends TSchema>(shape: T) => Type.Union([shape, Type.Null()])
const Bytes = Type.Integer({ minimum: 0, description: 'Size in bytes.' })

/** The form of a file in replies to different clients. */
export type FileShape = 'openrouter' | 'anthropic' | 'openai'

/** Request headers that decide the form; `x-stainless-lang` stands for any header that begins with `x-stainless-`. */
export const SHAPE_HEADERS = [
  'anthropic-version',
  'anthropic-beta',
  'user-agent',
  'x-stainless-lang',
] as const

/**
 * @param headers as the client sent them. C8: Anthropic's clients also send `x-stainless-` headers, so
 * Anthropic's headers are checked first.
 */
export function shapeOf(
  headers: Readonly<Partial<Record<(typeof SHAPE_HEADERS)[number], string>>>,
): FileShape {
  if (headers['anthropic-version'] !== undefined || headers['anthropic-beta'] !== undefined)
    return 'anthropic'
  const isOpenAi =
    headers['x-stainless-lang'] !== undefined || headers['user-agent']?.startsWith('OpenAI/') === true
  return isOpenAi ? 'openai' : 'openrouter'
}

const OwnFile = Type.Object(
  {
    _shape: Type.Union([Type.Literal('openrouter'), Type.Literal('anthropic')]),
    id: Type.String(),
    type: Type.Literal('file'),
    filename: Type.String(),
    mime_type: Type.String(),
    size_bytes: Bytes,
    created_at: Type.String({ format: 'date-time' }),
    downloadable: Type.Boolean({ description: 'False for an upload; true for a promoted container file.' }),
    expires_at: Type.Optional(
      Type.String({
        format: 'date-time',
        description: 'When the file is deleted; absent when the file does not expire.',
      }),
    ),
  },
  {
    description:
      'Default format of files, also used for callers that send `anthropic-version` or `anthropic-beta`.',
  },
)

const OpenAiFile = Type.Object(
  {
    _shape: Type.Literal('openai'),
    id: Type.String(),
    object: Type.Literal('file'),
    bytes: Bytes,
    created_at: Type.Integer({ description: 'Unix seconds.' }),
    filename: Type.String(),
    purpose: Type.String(),
    status: Type.Literal('processed'),
    expires_at: Type.Optional(
      Type.Integer({
        description: 'Unix time in seconds when the file is deleted; absent when the file does not expire.',
      }),
    ),
  },
  { description: "Format of files for OpenAI's clients." },
)

export const FileAnswer = Type.Union([OwnFile, OpenAiFile])
export type FileAnswer = Static<typeof FileAnswer>

const Ends = { has_more: Type.Boolean(), first_id: nullable(Type.String()), last_id: nullable(Type.String()) }

const FILE_ID = /^file_[0-9a-f]{32}$/

/** Whether a text may be the id of a stored file; other texts are refused before they reach the store. */
export function isFileId(text: string): boolean {
  return FILE_ID.test(text)
}

/** The fields of a file that replies show; a row of the store contains them. */
export interface ShownFile {
  readonly id: string
  readonly filename: string
  readonly mimeType: string
  readonly sizeBytes: number
  readonly createdAt: Date
  readonly isDownloadable: boolean
  /** Null: the uploader gave none. */
  readonly purpose: string | null
  /** Null or missing: the file does not expire. */
  readonly expiresAt?: Date | null
}

/** `purpose` of a file whose uploader named none; an index of the store contains the same value. Decision. */
export const PURPOSE_DEFAULT = 'user_data'

/** The purpose in an upload's form; null when the form names none. */
export function purposeOf(fields: ReadonlyMap<string, string>): string | null {
  const purpose = fields.get('purpose') ?? ''
  return purpose === '' ? null : purpose
}

/** The issue of an upload's `purpose`, never with the text itself; null for a valid one. */
export function purposeIssue(purpose: string): Issue | null {
  const isGood = purpose.length <= PURPOSE_CHARS_MAX && !/[\p{Cc}\ufffd]/u.test(purpose)
  return isGood
    ? null
    : {
        path: '/purpose',
        message: 'is not valid',
        expected: `at most ${PURPOSE_CHARS_MAX} UTF-8 characters, no control characters`,
      }
}

export function fileAnswer(file: ShownFile, shape: FileShape): FileAnswer {
  const { id, filename, expiresAt = null } = file
  return shape === 'openai'
    ? {
        _shape: shape,
        id,
        object: 'file',
        bytes: file.sizeBytes,
        created_at: unixSeconds(file.createdAt),
        filename,
        purpose: file.purpose ?? PURPOSE_DEFAULT,
        status: 'processed',
        ...(expiresAt !== null && { expires_at: unixSeconds(expiresAt) }),
      }
    : {
        _shape: shape,
        id,
        type: 'file',
        filename,
        mime_type: file.mimeType,
        size_bytes: file.sizeBytes,
        created_at: file.createdAt.toISOString(),
        downloadable: file.isDownloadable,
        ...(expiresAt !== null && { expires_at: expiresAt.toISOString() }),
      }
}

function unixSeconds(instant: Date): number {
  return Math.floor(instant.getTime() / 1_000)
}

/** A page of files, oldest first. */
export const FileListAnswer = Type.Union([
  Type.Object({
    _shape: Type.Literal('openrouter'),
    data: Type.Array(OwnFile),
    ...Ends,
    cursor: nullable(Type.String()),
  }),
  Type.Object({
    _shape: Type.Literal('anthropic'),
    data: Type.Array(OwnFile),
    ...Ends,
    next_page: nullable(Type.String()),
  }),
  Type.Object({
    _shape: Type.Literal('openai'),
    object: Type.Literal('list'),
    data: Type.Array(OpenAiFile),
    ...Ends,
  }),
])
export type FileListAnswer = Static<typeof FileListAnswer>

export const FileDeletedAnswer = Type.Union([
  Type.Object({
    _shape: Type.Union([Type.Literal('openrouter'), Type.Literal('anthropic')]),
    id: Type.String(),
    type: Type.Literal('file_deleted'),
  }),
  Type.Object({
    _shape: Type.Literal('openai'),
    id: Type.String(),
    object: Type.Literal('file'),
    deleted: Type.Literal(true),
  }),
])
export type FileDeletedAnswer = Static<typeof FileDeletedAnswer>

export interface ShownFilePage {
  readonly files: readonly ShownFile[]
  readonly hasMore: boolean
  /** Cursor of the next page. */
  readonly next: string | null
}

export function fileListAnswer({ files, hasMore, next }: ShownFilePage, shape: FileShape): FileListAnswer {
  const page = {
    data: files.map((file) => fileAnswer(file, shape)),
    has_more: hasMore,
    first_id: files[0]?.id ?? null,
    last_id: files.at(-1)?.id ?? null,
  }
  if (shape === 'openai') return { _shape: shape, object: 'list', ...page } as FileListAnswer
  if (shape === 'anthropic') return { _shape: shape, ...page, next_page: next } as FileListAnswer
  return { _shape: shape, ...page, cursor: next } as FileListAnswer
}

export function fileDeletedAnswer(id: string, shape: FileShape): FileDeletedAnswer {
  return shape === 'openai'
    ? { _shape: shape, id, object: 'file', deleted: true }
    : { _shape: shape, id, type: 'file_deleted' }
}

/** Bytes of a file or of a part of it. */
export const FileContent = Type.String({ format: 'binary', description: 'The bytes.' })

export const FileScope = {
  provider: Type.Optional(
    Type.Union([Type.Literal('openai'), Type.Literal('anthropic')], {
      description:
        "Slug of a provider: the operation acts on files stored at the provider, with the workspace's own provider key.",
    }),
  ),
  workspace_id: Type.Optional(
    Type.String({
      format: 'uuid',
      description: "UUID of the key's workspace, which is also the default; any other workspace is refused.",
    }),
  ),
}

export const FileScopeQuery = Type.Object(FileScope)
export type FileScopeQuery = Static<typeof FileScopeQuery>

export const FileParams = Type.Object({ file_id: Type.String({ minLength: 1 }) })

export const ListFilesQuery = Type.Object({
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: FILES_PAGE_MAX,
      description: `Files per page; ${FILES_PAGE_DEFAULT} by default.`,
    }),
  ),
  cursor: Type.Optional(Type.String({ description: 'Value of `cursor` from the previous page.' })),
  page: Type.Optional(
    Type.String({
      description:
        "Cursor in Anthropic's format: `next_page` of the previous page. `page` takes precedence over `after`, `after_id` and `before_id`.",
    }),
  ),
  after: Type.Optional(Type.String({ description: 'Id of the last file on the previous page.' })),
  after_id: Type.Optional(Type.String({ description: "The same as `after`, under Anthropic's name." })),
  purpose: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: PURPOSE_CHARS_MAX,
      pattern: '^[^\\u0000]*$',
      title: `a string of 1 to ${PURPOSE_CHARS_MAX} characters without U+0000`,
      description: 'Returns only files with exactly this purpose.',
    }),
  ),
  before_id: Type.Optional(
    Type.String({
      description:
        'Id of the first file on the following page, to list the files before that file. `before_id` is not supported for files at OpenAI.',
    }),
  ),
  ids: Type.Optional(
    Type.Array(Type.String({ minLength: 1 }), {
      maxItems: FILE_IDS_MAX,
      description:
        'Ids of the files to return, each as `ids` or `ids[]`, on one page; not allowed with cursors, `limit` or `provider`. Unknown ids are left out.',
    }),
  ),
  order: Type.Optional(
    Type.Union([Type.Literal('asc'), Type.Literal('desc')], {
      description: "Order of the files. Sluice's own storage supports only `asc`, oldest first.",
    }),
  ),
  ...FileScope,
})
export type ListFilesQuery = Static<typeof ListFilesQuery>

const ContainerId = Type.String({
  pattern: CONTAINER_ID_PATTERN,
  description: '`sess_…`, `gen_…`, or 1 to 40 characters of `[A-Za-z0-9_-]`.',
})

export const ContainerParams = Type.Object({ container_id: ContainerId })
/** Has the same names as the read operations of this path: OpenAPI allows only one name for a path parameter. */
export const ContainerWriteParams = Type.Object({
  container_id: ContainerId,
  file_id: Type.String({
    minLength: 1,
    description: 'Path of the file. Slashes are not percent-encoded.',
  }),
})
export const ContainerFileParams = Type.Object({
  container_id: ContainerId,
  file_id: Type.String({ minLength: 1 }),
})

export const ListContainerFilesQuery = Type.Object({
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: FILES_PAGE_MAX,
      description: `Files per page; ${FILES_PAGE_DEFAULT} by default.`,
    }),
  ),
  after: Type.Optional(Type.String({ description: 'Value of `last_id` from the previous page.' })),
})

/** A container file in OpenAI's form. */
export const ContainerFileAnswer = Type.Object({
  id: Type.String(),
  object: Type.Literal('container.file'),
  container_id: Type.String(),
  bytes: Bytes,
  created_at: Type.Integer({ description: 'Unix time of the last change, in seconds.' }),
  path: Type.String(),
  source: Type.Literal('assistant'),
})
export type ContainerFileAnswer = Static<typeof ContainerFileAnswer>

/** @param file facts from storage */
export function containerFileAnswer(
  containerId: string,
  file: { readonly path: string; readonly sizeBytes: number; readonly changedAt: Date },
): ContainerFileAnswer {
  return {
    id: containerFileId(file.path),
    object: 'container.file',
    container_id: containerId,
    bytes: file.sizeBytes,
    created_at: unixSeconds(file.changedAt),
    path: file.path,
    source: 'assistant',
  }
}

/** In the order of the paths. */
export const ContainerFileListAnswer = Type.Object({
  object: Type.Literal('list'),
  data: Type.Array(ContainerFileAnswer),
  first_id: nullable(Type.String()),
  last_id: nullable(Type.String()),
  has_more: Type.Boolean(),
})
