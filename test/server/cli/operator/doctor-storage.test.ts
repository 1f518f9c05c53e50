import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Settings } from '../../../support/nodes/node.ts'
import { openFolder, openS3 } from '../../../support/files/storage.ts'
import { runVerb } from '../../../support/operator/verbs.ts'
import { ROOT_KEY } from '../../../support/files/file-verbs.ts'

t.setTimeout(600_000)

const LOOKS_MAX = 40

/** A look that came too late found nothing, and is taken again. */
async function looked(settings: Settings) {
  let late = ''
  for (let looks = 0; looks < LOOKS_MAX; looks++) {
    const { stdout } = await runVerb(settings, ['doctor', '--json'])
    const { findings } = JSON.parse(stdout) as { findings: { check: string; detail: string }[] }
    const isLate = findings.some(({ detail }) => /no answer in time|did not finish within/.test(detail))
    if (!isLate) return { findings, stdout }
    late = stdout
  }
  throw new Error(`${LOOKS_MAX} looks in a row came too late, the last one with ${late}`)
}

t.test('doctor checks storage and the root key, and creates neither', async (t) => {
  const folder = await openFolder(t)
  const { storage: _unused, s3 } = await openS3(t)
  const dataDir = join(folder, 'data')
  const bucket = {
    SLUICE_DATA: dataDir,
    SLUICE_OBJECTS: `s3://${s3.bucket}/a`,
    SLUICE_S3_ENDPOINT: s3.endpoint,
    AWS_REGION: s3.region,
    AWS_ACCESS_KEY_ID: s3.accessKeyId,
    AWS_SECRET_ACCESS_KEY: s3.secretAccessKey,
  }
  const file = join(folder, 'keys')
  writeFileSync(file, 'not a key')
  writeFileSync(join(folder, 'plain'), '')
  const cases: readonly (readonly [Settings, Record<string, unknown>, Record<string, unknown>])[] = [
    [
      { SLUICE_DATA: dataDir },
      { level: 'ok', detail: /\/data\/files, not created yet, \d+ MiB free$/ },
      { level: 'ok', detail: 'the first start of the node creates the root key' },
    ],
    [
      bucket,
      { level: 'ok', detail: /^s3:\/\/test-bucket\/a\/, answers in [\d.]+ ms, \d+ MiB free for staging$/ },
      { level: 'ok' },
    ],
    [
      { ...bucket, SLUICE_OBJECTS: 's3://another-bucket' },
      { level: 'problem', detail: /^s3:\/\/another-bucket\/: / },
      { level: 'ok' },
    ],
    [
      { ...bucket, AWS_SECRET_ACCESS_KEY: 'canary' },
      { level: 'problem', fix: /access key/ },
      { level: 'ok' },
    ],
    [
      { SLUICE_DATA: dataDir, SLUICE_ROOT_KEY: ROOT_KEY },
      { level: 'ok' },
      { level: 'ok', detail: 'from SLUICE_ROOT_KEY' },
    ],
    [
      { SLUICE_DATA: dataDir, SLUICE_ROOT_KEY_FILE: file },
      { level: 'ok' },
      { level: 'problem', fix: /SLUICE_ROOT_KEY_FILE/ },
    ],
    [
      { SLUICE_DATA: dataDir, SLUICE_OBJECTS: join(folder, 'plain') },
      { level: 'problem', fix: /SLUICE_OBJECTS/ },
      { level: 'ok' },
    ],
  ]
  for (const [settings, storage, rootKey] of cases) {
    const { findings, stdout } = await looked(settings)
    t.match(
      findings.find(({ check }) => check === 'storage'),
      storage,
    )
    t.match(
      findings.find(({ check }) => check === 'root_key'),
      rootKey,
    )
    t.notMatch(stdout, /canary|not a key/)
  }
  t.notOk(existsSync(dataDir))
})
