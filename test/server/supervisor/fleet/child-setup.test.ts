import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { readFrom } from '../../../../src/server/config.ts'
import type { Texts } from '../../../../src/server/config/texts.ts'
import { childSetup, removeOtherCopies } from '../../../../src/server/supervisor/fleet/child-setup.ts'
import { openDataDirectory } from '../../../../src/server/supervisor/data-directory/data-directory.ts'
import type { NodeGeneration } from '../../../../src/server/supervisor/node-setup.ts'
import { SILENT } from '../../../support/log.ts'

t.test('a generation never reads the files of another one', async (t) => {
  const data = await openDataDirectory(join(t.testdir(), 'data'), SILENT)
  const place = { data, databaseUrl: 'postgres://h/d', redis: { socketPath: '/s' } }
  const [old, next] = [generationOf({ SLUICE_CATALOG: 'old' }), generationOf({ SLUICE_CATALOG: 'next' })]
  const fileOf = (generation: NodeGeneration): string =>
    childSetup(generation, place)[0]?.settings['SLUICE_CATALOG'] ?? ''
  const [oldFile, nextFile] = [fileOf(old), fileOf(next)]
  t.equal(readFileSync(oldFile, 'utf8'), 'old')
  t.equal(readFileSync(nextFile, 'utf8'), 'next')
  t.equal(statSync(oldFile).mode & 0o777, 0o600)
  removeOtherCopies(next, data)
  t.same(
    readdirSync(data.path)
      .filter((name) => name.startsWith('frozen-'))
      .map((name) => join(data.path, name)),
    [nextFile],
  )
  t.equal(fileOf(next), nextFile, 'the same content has the same name')
  data.release()
})

function generationOf(frozen: Texts): NodeGeneration {
  const reading = readFrom({})
  if (!reading.ok) throw new Error('the defaults are bad')
  return { ...reading.generation, frozen, providerKeys: {}, misplaced: null, advice: [] }
}
