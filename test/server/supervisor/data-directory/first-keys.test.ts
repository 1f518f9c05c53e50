import { join } from 'node:path'
import t from 'tap'
import {
  openDataDirectory,
  type DataDirectory,
} from '../../../../src/server/supervisor/data-directory/data-directory.ts'
import { FIRST_KEYS_FILE, firstKeys } from '../../../../src/server/supervisor/data-directory/first-keys.ts'
import { keptLog } from '../../../support/log.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'

const BASE_URL = 'http://127.0.0.1:8080/api/v1'
const nothingToMake = (): Promise<null> => Promise.resolve(null)

async function directory(t: { teardown(done: () => void): unknown }): Promise<DataDirectory> {
  const home = temporaryFolder(t, 'keys')
  const data = await openDataDirectory(join(home, 'data'), keptLog())
  t.teardown(() => data.release())
  return data
}

t.test('a later start writes its address into the file of the first keys, and keeps the keys', async (t) => {
  const data = await directory(t)
  data.writePrivate(FIRST_KEYS_FILE, '{"base_url":"http://old","inference_key":"kept"}')
  await firstKeys(data, { baseUrl: BASE_URL, log: keptLog() }, nothingToMake)
  t.same(JSON.parse(data.read(FIRST_KEYS_FILE) ?? ''), { base_url: BASE_URL, inference_key: 'kept' })
})

t.test('an edited first-keys file is left alone, and reported without its content', async (t) => {
  const [data, log] = [await directory(t), keptLog()]
  const text = 'sk-sluice-v1-mine, and a note'
  data.writePrivate(FIRST_KEYS_FILE, text)
  const keys = await firstKeys(data, { baseUrl: BASE_URL, log }, nothingToMake)
  t.match(keys, { inference: null, file: /first-keys\.json$/ })
  t.equal(data.read(FIRST_KEYS_FILE), text)
  t.match(log.events, [{ event: 'first_keys_unreadable', fields: { file: FIRST_KEYS_FILE } }])
  t.notMatch(JSON.stringify(log.events), 'mine')
})
