import { randomBytes } from 'node:crypto'
import t from 'tap'
import { readFrom } from '../../src/server/config.ts'
import { openRootKeys } from '../../src/server/vault/root-keys.ts'

t.test('a root key is never shown, neither an effective nor a refused one', async (t) => {
  const key = randomBytes(32).toString('base64url')
  // An id before the key makes it look like an URL with a path.
  for (const text of [
    key,
    `abcdef0123456789:${key}`,
    `${key},abcdef0123456789:${key}`,
    `abcdef0123456789:${key}!`,
  ]) {
    const reading = readFrom({ SLUICE_ROOT_KEY: text })
    t.equal(reading.ok, !text.endsWith('!'))
    const printed = JSON.stringify(
      reading.ok ? [reading.generation.report, reading.generation.config] : reading.problems,
    )
    t.notMatch(printed, key.slice(0, 10))
  }
})

t.test('every accepted form of the setting is a key, and a file in addition is refused', async (t) => {
  const [one, two] = [randomBytes(32), randomBytes(32)]
  for (const text of [
    one.toString('hex'),
    one.toString('base64'),
    `${one.toString('base64url')}, ${two.toString('hex')}`,
  ]) {
    const reading = readFrom({ SLUICE_ROOT_KEY: text })
    if (!reading.ok) throw new Error(text)
    const keys = openRootKeys({ setting: reading.generation.config.rootKey, file: null, dataDir: '/nowhere' })
    t.ok(keys.get(keys.currentId)?.equals(one))
  }
  const both = { SLUICE_ROOT_KEY: one.toString('hex'), SLUICE_ROOT_KEY_FILE: process.execPath }
  const expected = 'no value when SLUICE_ROOT_KEY is set'
  t.match(readFrom(both), { problems: [{ name: 'SLUICE_ROOT_KEY_FILE', expected }] })
})
