/** What our source may not contain, wherever it stands. Source: design §12. */
import { FAILURES, type FailureRow } from '../../src/schemas/failures.ts'
import { functionsOf, type SourceFile, type Token } from '../support/source.ts'

/** Lines as the formatter lays them out, one argument a line where they are many. */
export const FILE_LINES_MAX = 400
export const FUNCTION_LINES_MAX = 70
/** The formatter aims at fewer columns, and breaks no texts. */
export const LINE_COLUMNS_MAX = 160
const DUMPING_GROUNDS = /^(?:utils?|helpers?|common|shared|misc|lib)(?:\.tsx?)?$/

/** Reads of the environment outside config.ts, one line each. */
export function environmentReads(files: readonly SourceFile[]): readonly string[] {
  return findTokens(
    files.filter((file) => file.path !== 'src/server/config.ts'),
    (token, around) =>
      (token.text === 'env' && around(-1) === '.' && around(-2) === 'process') ||
      (token.text === 'env' && around(1) === '}' && around(2) === '=' && around(3) === 'process'),
  )
}

const STATUSES = new Set(Object.values(FAILURES).flatMap((row: FailureRow) => row.status))
/** These also count milliseconds, bytes and rows, so they are statuses only next to the word `status`. */
const ROUND = new Set([400, 500])

/** Where a status is read or listed and none of ours is spelled. */
const STATUS_HOMES: readonly { readonly path: RegExp; readonly reason: string }[] = [
  { path: /^src\/schemas\/failures\.ts$/, reason: 'the catalogue' },
  { path: /^src\/schemas\/.*limits\.ts$/, reason: 'counts, not statuses' },
  {
    path: /^src\/server\/operations\//,
    reason: 'the definitions, which list the statuses of their contract row',
  },
  { path: /^src\/server\/upstream\//, reason: 'reads the statuses of providers (C23)' },
  {
    path: /^src\/server\/inference\/send\.ts$/,
    reason: 'reads the statuses of providers that count no tokens (D5)',
  },
  { path: /^src\/server\/runner\/webhooks\/attempt\.ts$/, reason: 'reads the statuses of receivers (C17)' },
  { path: /^src\/server\/dashboard\/page\/api\.ts$/, reason: 'reads the statuses of our own answers' },
]

/** Error statuses spelled outside the catalogue and the definitions, as numbers or at the head of a text. */
export function statusNumbers(files: readonly SourceFile[]): readonly string[] {
  const checked = files.filter((file) => !STATUS_HOMES.some((home) => home.path.test(file.path)))
  return checked.flatMap((file) =>
    findTokens([file], (token) => {
      if (token.kind === 'string') return /^.[45]\d\d(?: [A-Z]|.$)/.test(token.text)
      if (token.kind !== 'number' || !STATUSES.has(Number(token.text))) return false
      return !ROUND.has(Number(token.text)) || /status/i.test(file.text.split('\n')[token.line - 1] ?? '')
    }),
  )
}

/** `any`, non-null `!`, and comments that silence the compiler, one line each. */
export function typeHoles(files: readonly SourceFile[]): readonly string[] {
  const inCode = findTokens(files, (token, around) => {
    if (token.kind === 'word' && token.text === 'any')
      return /^(?:[:<|&,=[]|as|is|extends|=>)$/.test(around(-1)) && !/^[:(]$/.test(around(1))
    if (token.text !== '!' || token.isApart) return false
    return /^(?:[\p{L}_$][\p{L}\p{N}_$]*|[)\]])$/u.test(around(-1)) && !KEYWORDS.has(around(-1))
  })
  const inComments = files.flatMap((file) =>
    file.comments
      .filter((comment) => /@ts-(?:ignore|nocheck|expect-error)|eslint-disable/.test(comment.text))
      .map((comment) => `${file.path}:${comment.line} ${comment.text.trim()}`),
  )
  return [...inCode, ...inComments]
}

const KEYWORDS = new Set([
  'return',
  'typeof',
  'void',
  'await',
  'in',
  'of',
  'case',
  'else',
  'yield',
  'if',
  'while',
])

/**
 * To-dos, since each needs an owner and a condition; and traces of the machine that the code was written on.
 */
export function unfinished(files: readonly SourceFile[]): readonly string[] {
  return files.flatMap((file) =>
    file.comments
      .filter((comment) => /\b(?:TODO|FIXME|XXX|HACK)\b/.test(comment.text))
      .map((comment) => `${file.path}:${comment.line} ${comment.text.trim().split('\n')[0] ?? ''}`),
  )
}

const REFUSED_WORDS = /\b(?:nobody|somebody|whoever|told|tells|begins? anew|in the place of)\b/i
/** Names by what is spoken: say what happens, such as reported, written, received. */
const SPOKEN = /^#?(?:un)?(?:told|said|heard)|Told|Said|Heard/
/** A member of the answer to a bad configuration, which clients read. */
const SPOKEN_ON_THE_WIRE = new Set(['said'])
/** A sentence that opens so has no subject at its head, or leans on the comment before it. */
const OPENINGS = /(?:^|[.:;!?)]\s+)(?:What is no|Of an? |Likewise\.|As above)/

/** Comments that need two readings: words with a plainer one, and sentences without a subject. */
export function unclearComments(files: readonly SourceFile[]): readonly string[] {
  return files.flatMap((file) =>
    file.comments
      .map((comment) => ({ line: comment.line, words: wordsOf(comment.text) }))
      .filter(({ words }) => REFUSED_WORDS.test(words) || OPENINGS.test(words))
      .map(({ line, words }) => `${file.path}:${line} ${words}`),
  )
}

/** Identifiers that match SPOKEN, one line each. */
export function spokenNames(files: readonly SourceFile[]): readonly string[] {
  return findTokens(
    files,
    ({ kind, text }) => kind === 'word' && SPOKEN.test(text) && !SPOKEN_ON_THE_WIRE.has(text),
  )
}

/** The comment's words on one line, without the signs that make them a comment. */
function wordsOf(comment: string): string {
  return comment
    .replace(/^\/[/*]+|\*\/$/g, '')
    .replace(/\n[ \t]*\* ?/g, ' ')
    .trim()
}

/** A migration is one SQL text: cutting its function would only hide its length. */
const MIGRATION = /^src\/server\/store\/migrations\//

/** Files and functions above their length, one line each. */
export function tooLong(files: readonly SourceFile[]): readonly string[] {
  return files.flatMap((file) => {
    const lines = file.text.trimEnd().split('\n')
    return [
      ...(lines.length > FILE_LINES_MAX ? [`${file.path} has ${lines.length} lines`] : []),
      ...functionsOf(file)
        .filter((span) => span.lines > FUNCTION_LINES_MAX && !MIGRATION.test(file.path))
        .map((span) => `${file.path}:${span.line} a function of ${span.lines} lines`),
    ]
  })
}

/** Lines above their width, one line each. */
export function tooWide(files: readonly SourceFile[]): readonly string[] {
  return files.flatMap((file) =>
    file.text.split('\n').flatMap((line, index) => {
      const columns = [...line].length
      return columns > LINE_COLUMNS_MAX ? [`${file.path}:${index + 1} a line of ${columns} columns`] : []
    }),
  )
}

/** Folders and files that are named after no concept. */
export function dumpingGrounds(files: readonly SourceFile[]): readonly string[] {
  return files
    .map((file) => file.path)
    .filter((path) => path.split('/').some((part) => DUMPING_GROUNDS.test(part)))
}

/** Files of tests that make temporary folders by themselves, each with its reason. */
const OWN_FOLDERS: Readonly<Record<string, string>> = {
  'test/support/temporary-folder.ts': 'the helper itself',
  'test/support/nodes/stand.ts': 'its `stop` removes the folder',
  'test/support/nodes/outside-stores.ts': 'its `close` removes the folder',
  'test/bench/deployment/fake-deployment.ts': 'the call that makes it removes it',
  'test/support/videos/ffmpeg.ts': 'the call that makes it removes it',
  'test/support/files/tiny-disk.ts': 'the call that makes it removes it',
  'test/prove/inference/agents/record.ts': 'a program, which removes it at its end',
  'test/prove/operator/dashboard-looks.ts': 'a person looks at the pictures of a long run',
  'test/prove/nodes/slowdown.ts': 'it lies in a folder of the helper',
}

/** Entries whose files make no folder. */
export function needlessFolders(files: readonly SourceFile[]): readonly string[] {
  const makers = new Set(files.filter(({ text }) => /\bmkdtemp/.test(text)).map(({ path }) => path))
  return Object.keys(OWN_FOLDERS).filter((path) => !makers.has(path))
}

/** Lines of tests that make a temporary folder of their own, which nothing may remove. */
export function unownedFolders(files: readonly SourceFile[]): readonly string[] {
  return files
    .filter(({ path }) => path.startsWith('test/') && OWN_FOLDERS[path] === undefined)
    .flatMap(({ path, tokens }) =>
      tokens
        .filter(({ text }) => text === 'mkdtemp' || text === 'mkdtempSync')
        .map(({ line }) => `${path}:${line} makes a folder; temporaryFolder removes what it makes`),
    )
}

/**
 * Default exports, which lose their name at the import. Worker tasks and drop-in modules are loaded by path.
 */
export function defaultExports(files: readonly SourceFile[]): readonly string[] {
  return findTokens(
    files.filter((file) => !file.path.startsWith('src/workers/')),
    (token, around) => token.text === 'default' && around(-1) === 'export',
  )
}

function findTokens(
  files: readonly SourceFile[],
  isFound: (token: Token, around: (offset: number) => string) => boolean,
): readonly string[] {
  return files.flatMap((file) =>
    file.tokens
      .filter((token, index) => isFound(token, (offset) => file.tokens[index + offset]?.text ?? ''))
      .map((token) => `${file.path}:${token.line} ${file.text.split('\n')[token.line - 1]?.trim() ?? ''}`),
  )
}
