import fs, {
  chownSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import t from 'tap'
import { writeKeyFile } from '../../../src/server/vault/root-key-file.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const USER = 65_534
const skip = process.getuid?.() === 0 ? false : 'only root gives files away'

t.test(
  "files that root writes for a node's user belong to that user, and planted files do not",
  { skip },
  (t) => {
    const folder = temporaryFolder(t, 'owner')
    const [own, victim, moved] = [join(folder, 'own'), join(folder, 'victim'), join(folder, 'moved')]
    fs.mkdirSync(own)
    chownSync(own, USER, USER)
    writeFileSync(victim, 'of root')
    const { closeSync } = fs
    fs.closeSync = (file) => {
      closeSync(file)
      const [draft] = readdirSync(own)
      if (draft === undefined || statSync(join(own, draft)).size === 0) return
      fs.closeSync = closeSync
      syncBuiltinESMExports()
      renameSync(join(own, draft), moved)
      symlinkSync(victim, join(own, draft))
    }
    syncBuiltinESMExports()
    writeKeyFile(join(own, 'file'), 'text', own)
    t.match(
      { victim: statSync(victim), moved: statSync(moved) },
      { victim: { uid: 0 }, moved: { uid: USER } },
    )
    t.equal(readFileSync(moved, 'utf8'), 'text')
    t.end()
  },
)
