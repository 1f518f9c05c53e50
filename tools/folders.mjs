// `node tools/folders.mjs`: where each subject lies, and which folders hold the most files. What it prints is
// what test/contract/folders.test.ts limits.
import { fileURLToPath } from 'node:url'
import { build } from './build.mjs'

process.chdir(fileURLToPath(new URL('..', import.meta.url)))
await build()
const { FOLDER_FILES_MAX, readFolders, SUBJECT_FOLDERS_MAX, subjectFolders } =
  await import('../dist/test/contract/folder-rules.js')

/** Decision: a list of twelve names is read at a glance. */
const GLANCE_FILES = 12
const BIGGEST_ROWS = 12

const folders = readFolders('src')
process.stdout.write(`Subjects: folders (at most ${SUBJECT_FOLDERS_MAX}), and the files of each\n`)
for (const { subject, tops } of subjectFolders(folders)) {
  const all = tops.flatMap((top) => top.folders)
  const files = all.reduce((sum, folder) => sum + folder.files, 0)
  process.stdout.write(`\n${subject}: ${tops.length} folders, ${files} files\n`)
  for (const { path, folders: within } of tops) {
    const counts = within.map(
      (folder) => `${folder.files}${folder.path === path ? '' : ` in ${folder.path.slice(path.length + 1)}`}`,
    )
    process.stdout.write(`  ${path}: ${counts.join(', ')}\n`)
  }
}
const bySize = [...folders].sort((one, other) => other.files - one.files)
const small = folders.filter(({ files }) => files <= GLANCE_FILES).length
process.stdout.write(
  `\nBiggest of ${folders.length} folders (at most ${FOLDER_FILES_MAX} files); ${small} have up to ${GLANCE_FILES}\n`,
)
for (const { path, files } of bySize.slice(0, BIGGEST_ROWS)) process.stdout.write(`  ${files} ${path}\n`)
