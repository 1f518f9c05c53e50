/** The command line and a running node whose catalogue is not the one of the shell. */
import t, { type Test } from 'tap'
import { catalogue } from '../../../../src/server/cli/operator/doctor/settings.ts'
import { openDataDirectory } from '../../../../src/server/supervisor/data-directory/data-directory.ts'
import { NO_RELOAD, writeReload } from '../../../../src/server/supervisor/reload-record.ts'
import { keptLog } from '../../../support/log.ts'
import { catalogueFile } from '../../../support/models/catalogue.ts'
import { generationOf } from '../../../support/operator/doctor.ts'
import { runVerb } from '../../../support/operator/verbs.ts'

t.setTimeout(600_000)

const NAME = 'mine/model'
const PRICING = { prompt: '0.000001', completion: '0.000002' }
const CATALOGUE = {
  replace: true,
  providers: [{ slug: 'here', protocol: 'openai', base_url: 'http://127.0.0.1:9/v1' }],
  models: [{ id: NAME, name: 'M', endpoints: [{ provider: 'here', upstream_model: 'm', pricing: PRICING }] }],
}

/** The data directory of a node that uses this catalogue file. */
async function nodeWith(t: Test, catalogFile: string | null): Promise<string> {
  const data = await openDataDirectory(t.testdir(), keptLog())
  t.teardown(() => data.release())
  writeReload(data, { ...NO_RELOAD, catalogFile })
  return data.path
}

t.test(
  'models explain and list read the catalogue of the running node when the shell sets none',
  async (t) => {
    const SLUICE_DATA = await nodeWith(t, catalogueFile(t, CATALOGUE))
    for (const args of [['explain', NAME], ['list']]) {
      const { code, stdout, stderr } = await runVerb({ SLUICE_DATA }, ['models', ...args])
      t.match({ code, stderr }, { code: 0, stderr: '' })
      t.match(stdout, args[0] === 'list' ? NAME : /^completion +2$/m)
    }
  },
)

t.test(
  'models explain reports that the running node uses another catalogue than the one set in the shell',
  async (t) => {
    const [SLUICE_DATA, SLUICE_CATALOG] = [await nodeWith(t, null), catalogueFile(t, CATALOGUE)]
    t.match(await runVerb({ SLUICE_DATA, SLUICE_CATALOG }, ['models', 'explain', NAME]), {
      code: 0,
      stderr:
        'note: the running node uses the shipped catalogue, but SLUICE_CATALOG in this shell names ' +
        `${SLUICE_CATALOG}: restart the node with SLUICE_CATALOG=${SLUICE_CATALOG}\n`,
    })
  },
)

t.test('doctor names the catalogue of the running node, and warns when the shell sets another', async (t) => {
  const [one, two] = [catalogueFile(t, CATALOGUE), catalogueFile(t, CATALOGUE)]
  const SLUICE_DATA = await nodeWith(t, one)
  t.match(catalogue(generationOf({ SLUICE_DATA })), [
    { check: 'catalogue', level: 'ok', detail: `1 models from the catalogue file ${one}` },
  ])
  t.match(catalogue(generationOf({ SLUICE_DATA, SLUICE_CATALOG: two })), [
    {
      ...{ check: 'catalogue', level: 'warning' },
      detail: `the running node uses the catalogue file ${one}, but SLUICE_CATALOG in this shell names ${two}`,
      fix: `restart the node with SLUICE_CATALOG=${two}`,
    },
  ])
})
