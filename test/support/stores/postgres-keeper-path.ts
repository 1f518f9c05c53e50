import { createHash } from 'node:crypto'
import { readdirSync, statSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const KEEPER_FILE = fileURLToPath(new URL('./postgres-keeper.js', import.meta.url))

/** One keeper for each build and user: a template of other migrations would be of no use. */
export const KEEPER_NAME = `sluice-test-${createHash('sha256').update([KEEPER_FILE, userInfo().uid, migrationsAt()].join()).digest('hex').slice(0, 12)}`

export const KEEPER_HOME = join(tmpdir(), KEEPER_NAME)
/** On Linux an abstract name, which ends with its holder and leaves no file. */
export const KEEPER_PATH = process.platform === 'linux' ? `\0${KEEPER_NAME}` : `${KEEPER_HOME}.sock`

function migrationsAt(): string {
  const folder = fileURLToPath(new URL('../../../src/server/store/migrations/', import.meta.url))
  return readdirSync(folder)
    .map((name) => `${name} ${statSync(join(folder, name)).mtimeMs}`)
    .join()
}
