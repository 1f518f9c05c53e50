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
  /testdir|child_process|process\.(?:argv|emit|env|exit|memoryUsage|on|once)|matchSnapshot|mockImport|\bgc\(|(?:before|after)Each|worker_threads|startNode|setFlags|automaton|StoreSlow|openFarStore|support\/(?:nodes|load|operator\/verbs|wire\/browser)/
/** Seconds, as kept, of a file that may be joined: longer ones mostly do what they are for. */
const JOINED_S_MAX = 12
/** Seconds of a file that none are kept of, without those in which its process loads modules. */
const SHORT_S = 1
/** Decision: seconds of a group, whose files are taken by their kept times. Longer groups would end a run late. */
const GROUP_S_MAX = 24
/** Fewer files are named one by one, and run so. */
const JOINED_FROM = 40
const FOLDER = 'dist/test/.groups'

/**
 * @param files compiled test files
 * @param kept seconds of the long ones, by source name
 * @returns a job for each file, or group of neighbours
 */
export function jobsOf(files, kept, read = (path) => readFileSync(path, 'utf8')) {
  const secondsOf = (path) => kept[sourceOf(path)] ?? SHORT_S
  const mayJoin = (path) =>
    !ALONE.test(path) && secondsOf(path) <= JOINED_S_MAX && !OWN_STATE.test(read(path))
  const joined = files.length < JOINED_FROM ? [] : files.filter(mayJoin)
  const alone = files.filter((path) => !joined.includes(path))
  const groups = []
  for (const path of joined) {
    const last = groups.at(-1)
    if (last !== undefined && last.seconds + secondsOf(path) <= GROUP_S_MAX) {
      last.files.push(path)
      last.seconds += secondsOf(path)
    } else groups.push({ files: [path], seconds: secondsOf(path) })
  }
  return [...alone.map((path) => ({ path, files: [path] })), ...groups.map(jobOf)]
}

function jobOf({ files }, nth) {
  if (files.length === 1) return { path: files[0], files }
  return { path: `${FOLDER}/${nth}-${basename(dirname(files[0]))}.js`, files }
}

/**
 * Writes the program of a group, which imports its files one after another. Their tests wait for the last file:
 * some files wait at their top, and tap ends when it has no test left.
 */
export function writeGroup({ path, files }) {
  mkdirSync(FOLDER, { recursive: true })
  const imports = files.map((file) => `  await import('${relative(dirname(path), file)}')\n`)
  writeFileSync(path, `import t from 'tap'\n\nt.before(async () => {\n${imports.join('')}})\n`)
}
