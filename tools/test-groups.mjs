/**
 * Joins short test files into groups that one process runs: alone, each would mostly load the modules that all
 * of them import.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, relative } from 'node:path'
import { sourceOf } from './test-times.mjs'

/** Folders whose tests start processes or browsers of their own, or run for long. */
const ALONE = /^dist\/test\/(?:bench\/suite|dashboard|deploy|prove|readme)\//
/** What a file needs for itself: state or limits of its process, or names that tap makes of its first file. */
const OWN_STATE =
  /testdir|child_process|process\.(?:argv|emit|env|exit|memoryUsage|on|once)|matchSnapshot|mockImport|\bgc\(|(?:before|after)Each|worker_threads|startNode|setFlags|automaton|leftOpen|StoreSlow|openFarStore|support\/(?:nodes|load|operator\/verbs|wire\/browser)/
/** Seconds, as kept, of a file that may be joined: longer ones mostly do what they are for. */
const JOINED_S_MAX = 12
/** Seconds of a file that none are kept of, without those in which its process loads modules. */
const SHORT_S = 1
/** Decision: seconds of a group, whose files are taken by their kept times. Longer groups would end a run late. */
const GROUP_S_MAX = 24
/** Fewer files are named one by one, and run so. */
const JOINED_FROM = 40
/** Files of a folder that have one node, and one browser: a process runs them, one after the other. */
const SHARES_NODE = /support\/nodes\/shared-node|openDashboard\(t\)/
const FOLDER = 'dist/test/.groups'

/**
 * @param files compiled test files
 * @param kept seconds of the long ones, by source name
 * @param mayTurn false: no file takes turns with others, since the turns are tests, which no words choose
 * @returns a job for each file, or group of neighbours
 */
export function jobsOf(files, kept, read = (path) => readFileSync(path, 'utf8'), mayTurn = true) {
  const secondsOf = (path) => kept[sourceOf(path)] ?? SHORT_S
  const isMany = files.length >= JOINED_FROM
  const sharing = isMany && mayTurn ? files.filter((path) => SHARES_NODE.test(read(path))) : []
  const pages = sharing.filter((path) => path.startsWith('dist/test/dashboard/'))
  const others = sharing.filter((path) => !pages.includes(path))
  const mayJoin = (path) =>
    !ALONE.test(path) && secondsOf(path) <= JOINED_S_MAX && !OWN_STATE.test(read(path))
  const joined = isMany ? files.filter((path) => !sharing.includes(path) && mayJoin(path)) : []
  const alone = files.filter((path) => !joined.includes(path) && !sharing.includes(path))
  const groups = []
  for (const path of joined) {
    const last = groups.at(-1)
    if (last !== undefined && last.seconds + secondsOf(path) <= GROUP_S_MAX) {
      last.files.push(path)
      last.seconds += secondsOf(path)
    } else groups.push({ files: [path], seconds: secondsOf(path) })
  }
  const inTurn = [pages, others]
    .filter((some) => some.length > 0)
    .map((some) => ({ files: some, isInTurn: true }))
  const jobs = [...alone.map((path) => ({ path, files: [path] })), ...[...inTurn, ...groups].map(jobOf)]
  return jobs.map((job) => ({ ...job, seconds: job.files.reduce((sum, path) => sum + secondsOf(path), 0) }))
}

function jobOf({ files, isInTurn = false }, nth) {
  if (files.length === 1) return { path: files[0], files }
  return { path: `${FOLDER}/${nth}-${basename(dirname(files[0]))}.js`, files, isInTurn }
}

/**
 * Writes the program of a group, which imports its files one after another. Their tests wait for the last file:
 * some files wait at their top, and tap ends when it has no test left. Where files take turns, the next one is
 * imported when the tests of the one before are over.
 */
export function writeGroup({ path, files, isInTurn }) {
  mkdirSync(FOLDER, { recursive: true })
  const names = files.map((file) => relative(dirname(path), file))
  const imports = names.map((name) => `  await import('${name}')\n`).join('')
  const turns = names.reduceRight(
    (next, name) => `t.test('${name}', async () => {\nawait import('${name}')\n${next}})\n`,
    '',
  )
  const program = isInTurn ? turns : `t.before(async () => {\n${imports}})\n`
  writeFileSync(path, `import t from 'tap'\n\n${program}`)
}
