/** Conditions that doctor finds, each alone in an installation that lacks nothing else. */
import { join } from 'node:path'
import type { Test } from 'tap'
import { openDataDirectory } from '../../../src/server/supervisor/data-directory/data-directory.ts'
import { examined, type Answer } from './doctor.ts'
import { SILENT } from '../log.ts'
import type { Settings } from '../nodes/node.ts'
import { openTestDatabase } from '../stores/postgres.ts'
import { freePort } from '../nodes/spawned.ts'
import { openFolder } from '../files/storage.ts'

/** An installation that lacks nothing, which a test makes lack one thing at a time. */
export interface Installation {
  readonly settings: Settings
  /** What this machine lacks all the same. */
  readonly reported: Answer
  /** Adds the test of a condition. */
  condition(condition: Condition): void
}

export interface Condition {
  readonly what: string
  readonly check: string
  readonly detail: RegExp
  readonly fix: RegExp
  readonly skip?: string | false
  /** Makes it. @returns settings that differ from those of the installation */
  make(t: Test): Promise<Settings> | Settings
}

export async function installationOf(t: Test): Promise<Installation> {
  const settings = {
    SLUICE_PORT: String(await freePort()),
    SLUICE_ADMIN_PORT: String(await freePort()),
    SLUICE_DATA: join(await openFolder(t), 'data'),
    DATABASE_URL: (await openTestDatabase(t)).url,
  }
  const reported = await examined(settings)
  return { settings, reported, condition: (condition) => testCondition(t, { settings, reported }, condition) }
}

/**
 * Besides the base only this is found, in one line and one with the fix, and the exit code follows.
 */
function testCondition(
  root: Test,
  base: Pick<Installation, 'settings' | 'reported'>,
  { what, check, detail, fix, skip = false, make }: Condition,
): void {
  void root.test(what, { skip }, async (t) => {
    const settings = await make(t)
    const { found, text, isWell } = await examined({ ...base.settings, ...settings })
    const known = new Set(base.reported.found.map((finding) => finding.check))
    const [finding, ...others] = found.filter((one) => !known.has(one.check))
    t.match(finding, { check, detail, fix })
    t.same(others, [])
    const lines = text.split('\n')
    const at = lines.findIndex(
      (line) => line.startsWith(`${finding?.level ?? ''} `) && line.includes(` ${check} `),
    )
    t.match(lines[at + 1], /^ {29}fix: \S/)
    t.equal(isWell, false)
  })
}

/** A data directory as a start that was cut leaves it. */
export async function madeDirectory(t: Test): Promise<string> {
  const dataDir = join(await openFolder(t), 'data')
  const data = await openDataDirectory(dataDir, SILENT)
  data.release()
  return dataDir
}
