import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { REMOVAL, type Teardown } from './teardown.ts'

/**
 * A new folder outside of the repository, removed with the test.
 * @param name shows in `/tmp` whose folder it is
 */
export function temporaryFolder(t: Teardown, name: string): string {
  const path = mkdtempSync(join(tmpdir(), `sluice-${name}-`))
  t.teardown(() => rm(path, REMOVAL))
  return path
}
