import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import {
  checkWritable,
  openDataDirectory,
} from '../../../../src/server/supervisor/data-directory/data-directory.ts'
import { keptLog, SILENT } from '../../../support/log.ts'
import { noteRootKeyCopies, rootKeyCopies } from '../../../../src/server/vault/root-key-copies.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'

const asRoot = { skip: process.getuid?.() !== 0 && 'only root can try' }
const NOBODY = 65_534

function folder(t: { teardown(done: () => void): unknown }): string {
  return temporaryFolder(t, 'data')
}

/** Why it is refused, and whether its mode was left alone. */
async function refusal(path: string): Promise<{ readonly why: string; readonly isUntouched: boolean }> {
  const before = statSync(path).mode
  const why = await openDataDirectory(path, SILENT).then(
    () => 'taken',
    (problem: Error) => problem.message,
  )
  return { why, isUntouched: statSync(path).mode === before }
}

t.test('a new directory is made for its owner alone, and found again with its name', async (t) => {
  const path = join(folder(t), 'a/b')
  const first = await openDataDirectory(path, SILENT)
  first.release()
  t.equal(statSync(path).mode & 0o777, 0o700)
  const second = await openDataDirectory(path, SILENT)
  second.release()
  t.equal(second.node, first.node)
})

t.test('a directory used by a CLI command is reported as used by a command, not by a node', async (t) => {
  const path = join(folder(t), 'data')
  const data = await openDataDirectory(path, SILENT, { isVerb: true })
  t.match(await refusal(path), { why: /^another command is using .* already \(pid \d+\)$/ })
  data.release()
})

t.test('accepts the root of a fresh volume and the directory of an interrupted first start', async (t) => {
  const path = folder(t)
  chmodSync(path, 0o777)
  mkdirSync(join(path, 'lost+found'))
  for (const name of ['supervisor.pid', 'supervisor.pid.0123456789abcdef', '.writable'])
    writeFileSync(join(path, name), '')
  const data = await openDataDirectory(path, SILENT)
  data.release()
  t.equal(statSync(path).mode & 0o777, 0o700)
})

t.test('accepts a directory in which root key backups were noted before the first start', async (t) => {
  const path = folder(t)
  noteRootKeyCopies(path, ['0123456789abcdef'], { at: '2026-01-01T00:00:00.000Z', by: 'shown' })
  const data = await openDataDirectory(path, SILENT)
  data.release()
  t.ok(rootKeyCopies(path).has('0123456789abcdef'))
})

t.test('a directory with other contents, such as /tmp, is refused', async (t) => {
  const path = folder(t)
  chmodSync(path, 0o755)
  writeFileSync(join(path, 'letter.txt'), 'mine')
  t.match(await refusal(path), { why: /contains other files: set SLUICE_DATA/, isUntouched: true })
  t.same(readdirSync(path), ['letter.txt'])
})

t.test('a link to a directory is refused', async (t) => {
  const home = folder(t)
  mkdirSync(join(home, 'real'), { mode: 0o755 })
  symlinkSync(join(home, 'real'), join(home, 'link'))
  t.match(await refusal(join(home, 'link')), { why: /is a symbolic link/, isUntouched: true })
  t.same(readdirSync(join(home, 'real')), [])
})

t.test('a node id file that is a symbolic link does not make a directory ours', async (t) => {
  const path = folder(t)
  symlinkSync('/etc/hostname', join(path, 'node-id'))
  t.match(await refusal(path), { why: /contains other files/, isUntouched: true })
})

t.test('a directory of another user is refused, though root could write to it', asRoot, async (t) => {
  const path = folder(t)
  chownSync(path, NOBODY, NOBODY)
  t.match(await refusal(path), { why: /belongs to user 65534/, isUntouched: true })
})

t.test('a directory that another user marked as ours is refused', asRoot, async (t) => {
  const path = folder(t)
  writeFileSync(join(path, 'node-id'), 'planted')
  chownSync(join(path, 'node-id'), NOBODY, NOBODY)
  t.match(await refusal(path), { why: /contains other files/, isUntouched: true })
})

t.test('files are written next to planted links, never through them', async (t) => {
  const path = join(folder(t), 'data')
  const data = await openDataDirectory(path, SILENT)
  const target = join(path, '../target')
  writeFileSync(target, 'precious')
  for (const name of ['.writable', 'first-keys.json'])
    symlinkSync(target, join(path, `${name}.${process.pid}`))
  symlinkSync(target, join(path, 'runtime.json'))
  checkWritable(path)
  data.writePrivate('first-keys.json', 'keys')
  data.writePrivate('runtime.json', 'runtime')
  data.release()
  t.equal(readFileSync(target, 'utf8'), 'precious')
  t.ok(lstatSync(join(path, 'first-keys.json')).isFile())
  t.equal(readFileSync(join(path, 'first-keys.json'), 'utf8'), 'keys')
})

t.test('a process that cannot be recorded, as on a full disk, is a warning', async (t) => {
  const path = join(folder(t), 'data')
  const log = keptLog()
  const data = await openDataDirectory(path, log)
  rmSync(path, { recursive: true })
  data.remember('front', process.pid)
  data.forget(process.pid)
  t.same(
    log.events.map(({ event }) => event),
    ['processes_not_recorded', 'processes_not_recorded'],
  )
})

t.test('a file that cannot be moved into place leaves no temporary file', async (t) => {
  const path = join(folder(t), 'data')
  const data = await openDataDirectory(path, SILENT)
  mkdirSync(join(path, 'first-keys.json/taken'), { recursive: true })
  t.throws(() => data.writePrivate('first-keys.json', 'keys'))
  t.same(
    readdirSync(path).filter((name) => name.startsWith('first-keys.json.')),
    [],
  )
})
