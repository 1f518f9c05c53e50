/**
 * Joins short test files into groups that one process runs: alone, each would mostly load the modules that all
 * of them import.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, relative } from 'node:path'
import { sourceOf } from './test-times.mjs'

/** Subjects whose tests start no process of their own. */
const JOINED = /^dist\/test\/(?:properties|schemas|workers|server\/(?!cli\/|main\/|supervisor\/))/
/** What a file needs for itself: state of its process, or names that tap makes of the process's first file. */
const OWN_STATE =
  /testdir|child_process|process\.(?:argv|emit|env|exit|memoryUsage|on|once)|matchSnapshot|mockImport|\bgc\(|(?:before|after)Each|worker_threads|startNode|setFlags/
/** Decision: a group takes about as long as a file of its own, so that the end of a run stays short. */
const FILES_MAX = 6
/** Fewer files are named one by one, and run so. */
const JOINED_FROM = 40
const FOLDER = 'dist/test/.groups'

/**
 * @param files compiled test files
 * @param kept seconds of the long ones, by source name: these run alone
 * @returns a job for each file, or group of neighbours
 */
export function jobsOf(files, kept, read = (path) => readFileSync(path, 'utf8')) {
  const mayJoin = (path) =>
    JOINED.test(path) && kept[sourceOf(path)] === undefined && !OWN_STATE.test(read(path))
  const joined = files.length < JOINED_FROM ? [] : files.filter(mayJoin)
  const alone = files.filter((path) => !joined.includes(path)).map((path) => ({ path, files: [path] }))
  const groups = []
  for (let from = 0; from < joined.length; from += FILES_MAX)
    groups.push(groupOf(joined.slice(from, from + FILES_MAX), groups.length))
  return [...alone, ...groups]
}

function groupOf(files, nth) {
  if (files.length === 1) return { path: files[0], files }
  return { path: `${FOLDER}/${nth}-${basename(dirname(files[0]))}.js`, files }
}

/** Writes the program of a group. It imports its files one after another, also those that wait at their top. */
export function writeGroup({ path, files }) {
  mkdirSync(FOLDER, { recursive: true })
  writeFileSync(path, files.map((file) => `await import('${relative(dirname(path), file)}')\n`).join(''))
}
