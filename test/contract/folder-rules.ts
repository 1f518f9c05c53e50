/** Where each subject lies, and how many files a folder has. `tools/folders.mjs` prints it. */
import { readdirSync } from 'node:fs'
import { posix } from 'node:path'
import { ROOT } from '../support/source.ts'
import { SUBJECTS } from './imports/subject-rules.ts'

/** A folder is read as one list of names. */
export const FOLDER_FILES_MAX = 35
/** Topmost folders of a subject below `src`: one in each layer. */
export const SUBJECT_FOLDERS_MAX = 7

/** Whole layers that work for one subject and do not have its name. */
const LAYERS_OF: Readonly<Record<string, string>> = {
  'src/server/access': 'keys',
  'src/server/catalogue': 'models',
  'src/server/journal': 'money',
}

export interface Folder {
  /** From the root of the repository. */
  readonly path: string
  /** Files that lie in the folder itself. */
  readonly files: number
}

/** The folders of these paths of files, sorted by path. */
export function foldersOf(files: readonly string[]): readonly Folder[] {
  const counts = new Map<string, number>()
  for (const file of files) {
    const path = posix.dirname(file)
    counts.set(path, (counts.get(path) ?? 0) + 1)
  }
  return [...counts]
    .map(([path, count]) => ({ path, files: count }))
    .sort((a, b) => (a.path < b.path ? -1 : 1))
}

/** The folders below `root`. */
export function readFolders(root: string): readonly Folder[] {
  const found = readdirSync(`${ROOT}${root}`, { recursive: true, withFileTypes: true })
  return foldersOf(
    found
      .filter((one) => one.isFile())
      .map((one) => posix.join(posix.relative(ROOT, one.parentPath), one.name)),
  )
}

/** The subject of a folder, and the topmost folder that belongs to that subject; null for what all share. */
export function subjectAt(path: string): { readonly subject: string; readonly top: string } | null {
  const parts = path.split('/')
  for (let end = 2; end <= parts.length; end++) {
    const top = parts.slice(0, end).join('/')
    const subject = LAYERS_OF[top] ?? SUBJECTS.find((name) => name === parts[end - 1])
    if (subject !== undefined) return { subject, top }
  }
  return null
}

export interface SubjectFolders {
  readonly subject: string
  readonly tops: readonly { readonly path: string; readonly folders: readonly Folder[] }[]
}

/** Subjects in the order of their list, those without a folder left out. */
export function subjectFolders(folders: readonly Folder[]): readonly SubjectFolders[] {
  const bySubject = new Map<string, Map<string, Folder[]>>()
  for (const folder of folders) {
    const found = subjectAt(folder.path)
    if (found === null) continue
    const tops = bySubject.get(found.subject) ?? new Map<string, Folder[]>()
    bySubject.set(found.subject, tops.set(found.top, [...(tops.get(found.top) ?? []), folder]))
  }
  return SUBJECTS.flatMap((subject) => {
    const tops = bySubject.get(subject)
    return tops === undefined
      ? []
      : [{ subject, tops: [...tops].map(([path, within]) => ({ path, folders: within })) }]
  })
}

/** Folders with too many files, and subjects with too many folders, one line each. */
export function crowded(folders: readonly Folder[]): readonly string[] {
  return [
    ...folders
      .filter(({ files }) => files > FOLDER_FILES_MAX)
      .map(({ path, files }) => `${path} has ${files} files`),
    ...subjectFolders(folders)
      .filter(({ tops }) => tops.length > SUBJECT_FOLDERS_MAX)
      .map(({ subject, tops }) => `${subject} has ${tops.length} folders`),
  ]
}

/** The table as ARCHITECTURE.md shows it; tools/generated-pages.mjs writes it there. */
export function subjectTable(): string {
  const rows = subjectFolders(readFolders('src')).map(({ subject, tops }) => {
    const names = tops.map(({ path }) => `\`${path.replace(/^src\/server\//, '')}\``)
    return `| ${subject} | ${names.join(', ')} |`
  })
  return ['| Subject | Folders |', '| --- | --- |', ...rows].join('\n')
}
