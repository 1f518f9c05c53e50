// Prints failures whole, one line for each skipped test, and ends with `N passed, N failed`.
import { Transform } from 'node:stream'

export default class Summary extends Transform {
  #text = ''

  _transform(chunk, _encoding, done) {
    this.#text += chunk
    done()
  }

  _flush(done) {
    const lines = this.#text.split('\n')
    const notOk = (line) => /^\s*not ok\b/.test(line) && !/# (TODO|SKIP)\b/i.test(line)
    let isShown = false
    for (const line of lines) {
      if (/^\s*not ok\b/.test(line)) isShown = notOk(line)
      else if (/^\s*(ok\b|# Subtest)|^# /.test(line)) isShown = false
      if (/^\s*ok\b.*# SKIP\b/i.test(line)) this.push(`${line.trim()}\n`)
      if (isShown) this.push(`${line}\n`)
    }
    const totals = [...this.#text.matchAll(/^# \{ total: \d+(?:, pass: (\d+))?(?:, fail: (\d+))?/gm)].at(-1)
    // A file that dies after its first pass counts as one pass in tap's own total, so failed files count too.
    const failedFiles = lines.filter((line) => /^not ok\b/.test(line) && notOk(line)).length
    const failed = Math.max(totals ? Number(totals[2] ?? 0) : 1, failedFiles)
    this.push(`${Number(totals?.[1] ?? 0)} passed, ${failed} failed\n`)
    done()
  }
}
