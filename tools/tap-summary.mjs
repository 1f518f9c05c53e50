/** The output of a test file as `npm test` shows it: failures whole, one line for each skipped test. */

/**
 * @param stdout TAP of tap
 * @param stderr shown when the file failed
 * @param code exit code of the process; null when a signal ended it
 * @returns counts of passed and failed assertions (a file that failed otherwise counts as one), and the text
 * to show
 */
export function summaryOf({ stdout, stderr, code, signal }) {
  const lines = stdout.split('\n')
  const shown = []
  let isShown = false
  for (const line of lines) {
    if (/^\s*not ok\b/.test(line)) isShown = isFailure(line)
    else if (/^\s*(ok\b|# Subtest)|^# /.test(line)) isShown = false
    if (/^\s*ok\b.*# SKIP\b/i.test(line)) shown.push(line.trim())
    if (isShown) shown.push(line)
  }
  const totals = [...stdout.matchAll(/^# \{ total: \d+(?:, pass: (\d+))?(?:, fail: (\d+))?/gm)].at(-1)
  const passed = Number(totals?.[1] ?? 0)
  let failed = Number(totals?.[2] ?? 0)
  // A file that dies, ends before its plan or fails at its end has no failed assertion to count.
  const isWhole =
    code === 0 &&
    lines.some((line) => /^1\.\.\d+/.test(line)) &&
    !lines.some((line) => /^not ok\b/.test(line) && isFailure(line))
  if (!isWhole) {
    failed = Math.max(failed, 1)
    shown.push(`not ok: it ended with ${signal ?? code}`, ...stderr.split('\n'))
  }
  return { passed, failed, text: shown.map((line) => `${line}\n`).join('') }
}

function isFailure(line) {
  return !/# (TODO|SKIP)\b/i.test(line)
}
