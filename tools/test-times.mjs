/** How long test files take, kept from earlier runs, and the order in which they run by it. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'

const KEPT_AT = 'tools/test-times.json'
/** Shorter files are not kept: they fill the places that the long ones leave. */
const KEPT_S_MIN = 5

/** @returns seconds by source name */
export function keptTimes() {
  return existsSync(KEPT_AT) ? JSON.parse(readFileSync(KEPT_AT, 'utf8')) : {}
}

/** @param times seconds by compiled name; files that did not run keep what is known of them */
export function keepTimes(times) {
  const measured = [...times].map(([compiled, seconds]) => [sourceOf(compiled), Math.round(seconds)])
  const all = Object.entries({ ...keptTimes(), ...Object.fromEntries(measured) })
  const kept = all.filter(([source, seconds]) => seconds >= KEPT_S_MIN && existsSync(source))
  kept.sort(([one, a], [other, b]) => b - a || one.localeCompare(other))
  writeFileSync(KEPT_AT, `${JSON.stringify(Object.fromEntries(kept), null, 2)}\n`)
}

/** At the end all places should have something to do: the longest begin first. @returns their paths */
export function longestFirst(jobs) {
  return [...jobs].sort((a, b) => b.seconds - a.seconds).map(({ path }) => path)
}

/** @param compiled name of a compiled test file */
export function sourceOf(compiled) {
  return compiled.replace(/^dist\//, '').replace(/js$/, 'ts')
}
