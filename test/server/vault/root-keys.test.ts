import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { Secret } from '../../../src/schemas/vault/secret.ts'
import {
  addRootKey,
  openOrMakeRootKeys,
  openRootKeys,
  RootKeyInvalid,
  type RootKeySources,
} from '../../../src/server/vault/root-keys.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const KEY = randomBytes(32)
const OTHER = randomBytes(32)

function folder(): string {
  return temporaryFolder(t, 'root')
}

function open(setting: string | null, more: Partial<RootKeySources> = {}) {
  return openRootKeys({
    setting: setting === null ? null : new Secret(setting),
    file: null,
    dataDir: folder(),
    ...more,
  })
}

function openOrMake(dataDir: string, more: Partial<RootKeySources> = {}) {
  return openOrMakeRootKeys({ setting: null, file: null, dataDir, ...more })
}

t.test('a key reads alike as hex, base64 and base64url, and its id follows from it', async (t) => {
  const forms = [
    KEY.toString('hex'),
    KEY.toString('hex').toUpperCase(),
    KEY.toString('base64'),
    KEY.toString('base64url'),
    ` ${KEY.toString('base64')}\n`,
  ]
  const ids = forms.map((form) => {
    const keys = open(form)
    t.ok(keys.get(keys.currentId)?.equals(KEY))
    return keys.currentId
  })
  t.equal(new Set(ids).size, 1)
  t.match(ids[0], /^[0-9a-f]{16}$/)
  t.not(ids[0], open(OTHER.toString('hex')).currentId)
})

t.test('several keys are held by their ids, and the first is the current one', async (t) => {
  const id = open(OTHER.toString('hex')).currentId
  const keys = open(`${KEY.toString('base64')},${id}:${OTHER.toString('hex')}`)
  t.equal(keys.ids.length, 2)
  t.ok(keys.get(keys.currentId)?.equals(KEY))
  t.ok(keys.get(id)?.equals(OTHER))
  t.equal(keys.get('0000000000000000'), undefined)
})

t.test('an invalid key is refused, and never shown', async (t) => {
  const secret = KEY.toString('base64')
  const wrong = [
    'short',
    KEY.toString('hex').slice(1),
    randomBytes(31).toString('base64'),
    randomBytes(33).toString('base64'),
    ' ',
    `${secret}${secret}`,
    `0123456789abcdef:${secret}`,
    `a:b:${secret}`,
    `${secret},bad`,
  ]
  for (const text of wrong) {
    try {
      open(text)
      t.fail(`taken for a key: ${text}`)
    } catch (problem) {
      t.ok(problem instanceof RootKeyInvalid)
      t.notMatch(String(problem), secret.slice(0, 12))
    }
  }
})

t.test('without a setting a key is made once, for its owner alone, and found again', async (t) => {
  const dataDir = join(folder(), 'data')
  const first = openOrMake(dataDir)
  t.equal(first.madeFile, join(dataDir, 'root-key'))
  t.equal(statSync(join(dataDir, 'root-key')).mode & 0o777, 0o600)
  t.match(readFileSync(join(dataDir, 'root-key'), 'utf8'), new RegExp(`^${first.currentId}:`))
  const second = openOrMake(dataDir)
  t.equal(second.madeFile, null)
  t.equal(second.currentId, first.currentId)
  t.same(readdirSync(dataDir), ['root-key'])
})

t.test('processes that make the first key at once all have the same one', async (t) => {
  const dataDir = folder()
  const program = `import { openOrMakeRootKeys } from ${JSON.stringify(new URL('../../../src/server/vault/root-keys.js', import.meta.url).href)}
    process.stdout.write(openOrMakeRootKeys({ setting: null, file: null, dataDir: ${JSON.stringify(dataDir)} }).currentId)`
  const run = (): Promise<string> =>
    new Promise((resolve, reject) => {
      execFile(process.execPath, ['--input-type=module', '-e', program], { env: {} }, (problem, out) => {
        if (problem === null) resolve(out)
        else reject(new Error('the program failed', { cause: problem }))
      })
    })
  const ids = await Promise.all(Array.from({ length: 6 }, run))
  t.equal(new Set(ids).size, 1)
  t.same(readdirSync(dataDir), ['root-key'])
})

t.test('a setting or file overrides the created key, which still decrypts keys it encrypted', async (t) => {
  const dataDir = folder()
  const made = openOrMake(dataDir)
  const file = join(folder(), 'keys')
  writeFileSync(file, `${KEY.toString('hex')}\n${OTHER.toString('base64')}\n`)
  for (const keys of [
    openOrMake(dataDir, { setting: new Secret(KEY.toString('hex')) }),
    openOrMake(dataDir, { file }),
  ]) {
    t.ok(keys.get(keys.currentId)?.equals(KEY))
    t.ok(keys.get(made.currentId)?.equals(made.get(made.currentId) ?? Buffer.alloc(0)))
    t.equal(keys.madeFile, null)
  }
})

t.test('a process that only opens keys makes none', async (t) => {
  const dataDir = folder()
  t.throws(() => open(null, { dataDir }), /there is no root key/)
  t.same(readdirSync(dataDir), [])
})

t.test('a damaged key file is refused and not replaced', async (t) => {
  const dataDir = folder()
  writeFileSync(join(dataDir, 'root-key'), 'damaged')
  t.throws(() => open(null, { dataDir }), /expected 32 bytes/)
  t.equal(readFileSync(join(dataDir, 'root-key'), 'utf8'), 'damaged')
  t.throws(() => open(null, { file: join(dataDir, 'missing') }), /cannot be read/)
})

t.test('a key put first in a file becomes current in running processes, and none is forgotten', async (t) => {
  const dataDir = folder()
  const file = join(folder(), 'keys')
  writeFileSync(file, `${KEY.toString('hex')}\n`)
  const given = open(null, { dataDir, file })
  const first = given.currentId
  writeFileSync(file, `${OTHER.toString('hex')}\n`)
  // Both are of one size, and may be of one tick of the file system's clock.
  utimesSync(file, 1, 1)
  t.ok(given.get(given.currentId)?.equals(OTHER))
  t.ok(given.get(first)?.equals(KEY))

  const made = openOrMake(dataDir)
  const second = addRootKey(dataDir)
  t.equal(second.file, join(dataDir, 'root-key'))
  t.same([...made.ids].slice(0, 1), [second.id], 'asked for the ids first')
  const third = addRootKey(dataDir)
  t.equal(made.get(third.id)?.length, 32, 'asked for a key that was not known')
  t.equal(open(null, { dataDir }).currentId, third.id)
  t.equal(open(null, { dataDir }).ids.length, 3)
  t.equal(statSync(second.file).mode & 0o777, 0o600)
  t.same(readdirSync(dataDir), ['root-key'])
})

t.test(
  'a file that is damaged or gone while its keys are in use changes nothing, until it can be read again',
  async (t) => {
    const dataDir = folder()
    const keys = openOrMake(dataDir)
    const { currentId } = keys
    const path = join(dataDir, 'root-key')
    const text = readFileSync(path, 'utf8')
    for (const wrong of ['damaged', '']) {
      writeFileSync(path, wrong)
      t.equal(keys.currentId, currentId)
      t.equal(keys.get('0123456789abcdef'), undefined)
    }
    rmSync(path)
    t.equal(keys.currentId, currentId)
    writeFileSync(path, `${OTHER.toString('hex')},${text}`)
    t.ok(keys.get(keys.currentId)?.equals(OTHER))
  },
)
