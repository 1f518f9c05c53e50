import t from 'tap'
import * as adminLimits from '../../src/schemas/operator/admin-limits.ts'
import * as adminPortLimits from '../../src/schemas/operator/admin-port-limits.ts'
import * as clipLimits from '../../src/schemas/videos/clip-limits.ts'
import * as fileLimits from '../../src/schemas/files/file-limits.ts'
import * as jsonLimits from '../../src/schemas/limits/json-limits.ts'
import * as otherLimits from '../../src/schemas/limits/limits.ts'
import * as mappingLimits from '../../src/schemas/scim/mapping-limits.ts'
import * as memoryLimits from '../../src/schemas/operator/memory-limits.ts'
import * as moneyLimits from '../../src/schemas/money/money-limits.ts'
import * as presetLimits from '../../src/schemas/presets/preset-limits.ts'
import * as retentionLimits from '../../src/schemas/operator/retention-limits.ts'
import * as scimResourceLimits from '../../src/schemas/scim/scim-resource-limits.ts'
import * as scimTokenLimits from '../../src/schemas/scim/scim-token-limits.ts'
import * as shareLimits from '../../src/schemas/limits/share-limits.ts'
import * as videoLimits from '../../src/schemas/videos/video-limits.ts'
import * as videoModelLimits from '../../src/schemas/videos/video-model-limits.ts'
import * as videoProviderLimits from '../../src/schemas/videos/video-provider-limits.ts'
import * as webhookLimits from '../../src/schemas/webhooks/webhook-limits.ts'
import { readSources, type SourceFile } from '../support/source.ts'

const FILES = [
  adminLimits,
  adminPortLimits,
  clipLimits,
  otherLimits,
  fileLimits,
  jsonLimits,
  mappingLimits,
  memoryLimits,
  moneyLimits,
  presetLimits,
  retentionLimits,
  scimResourceLimits,
  scimTokenLimits,
  shareLimits,
  videoLimits,
  videoModelLimits,
  videoProviderLimits,
  webhookLimits,
]
const limits = {
  ...adminLimits,
  ...adminPortLimits,
  ...clipLimits,
  ...otherLimits,
  ...fileLimits,
  ...jsonLimits,
  ...mappingLimits,
  ...memoryLimits,
  ...moneyLimits,
  ...presetLimits,
  ...retentionLimits,
  ...scimResourceLimits,
  ...scimTokenLimits,
  ...shareLimits,
  ...videoLimits,
  ...videoModelLimits,
  ...videoProviderLimits,
  ...webhookLimits,
}
const LIMITS_FILES = [
  'src/schemas/files/file-limits.ts',
  'src/schemas/limits/json-limits.ts',
  'src/schemas/limits/limits.ts',
  'src/schemas/limits/share-limits.ts',
  'src/schemas/money/money-limits.ts',
  'src/schemas/operator/admin-limits.ts',
  'src/schemas/operator/admin-port-limits.ts',
  'src/schemas/operator/memory-limits.ts',
  'src/schemas/operator/retention-limits.ts',
  'src/schemas/presets/preset-limits.ts',
  'src/schemas/scim/mapping-limits.ts',
  'src/schemas/scim/scim-resource-limits.ts',
  'src/schemas/scim/scim-token-limits.ts',
  'src/schemas/videos/clip-limits.ts',
  'src/schemas/videos/video-limits.ts',
  'src/schemas/videos/video-model-limits.ts',
  'src/schemas/videos/video-provider-limits.ts',
  'src/schemas/webhooks/webhook-limits.ts',
]

/** Limits that no test can use, with the reason. */
const UNTESTED: Readonly<Record<string, string>> = {
  ADMIN_ANSWER_MS_MAX: 'tests of the relay pass a shorter one',
  ADMIN_REQUEST_MS_MAX: 'a test would take half a minute',
  BROADCAST_POST_MS_MAX: 'tests of the broadcast pass a shorter one',
  CLOSE_MS_MAX: 'a test would take half a minute',
  PROVIDER_DOWNLOAD_BEGIN_MS: 'tests of files at providers pass shorter times',
  PROVIDER_FILES_CALL_MS: 'tests of files at providers pass shorter times',
  PROVIDER_FILE_STALL_MS: 'tests of files at providers pass shorter times',
  PROVIDER_UPLOAD_ANSWER_MS: 'tests of files at providers pass shorter times',
  PRUNE_LOOK_MS: 'how soon a runner looks is of no consequence but for the time of a test',
  OLDEST_LOOK_MS: 'a test would take a minute',
  VIDEO_EXPIRE_MS: 'a test would take a minute',
}

const src = readSources('src')
const tests = readSources('test').filter((file) => !file.path.startsWith('test/contract/'))

t.test('every file of limits is looked at, and no name stands in two', async (t) => {
  t.same(
    src.map(({ path }) => path).filter((path) => path.endsWith('limits.ts') && path.startsWith('src/schemas/')),
    LIMITS_FILES,
  )
  const ofAll = FILES.map((file) => Object.keys(file).length)
  t.equal(Object.keys(limits).length, ofAll.reduce((sum, count) => sum + count))
})

t.test('every limit is used by code, be it by another limit', async (t) => {
  t.same(unused(Object.keys(limits), src), [])
})

t.test('every limit is used by a test', async (t) => {
  t.same(
    unused(Object.keys(limits), tests).filter((name) => !(name in UNTESTED)),
    [],
  )
})

t.test('every exception names a limit that exists and is still untested', async (t) => {
  t.same(
    Object.keys(UNTESTED).filter((name) => !unused(Object.keys(limits), tests).includes(name)),
    [],
  )
})

t.test('a limit that nobody uses is found', async (t) => {
  t.same(unused(['NOBODY_USES_ME_MAX'], src), ['NOBODY_USES_ME_MAX'])
})

t.test('every limit is a positive whole number', async (t) => {
  t.same(
    Object.entries(limits).filter(([, value]) => !Number.isSafeInteger(value) || value < 1),
    [],
  )
})

function unused(names: readonly string[], files: readonly SourceFile[]): readonly string[] {
  const words = new Set(
    files.flatMap((file) =>
      file.tokens.filter((_, index) => !declares(file, index)).map((token) => token.text),
    ),
  )
  return names.filter((name) => !words.has(name))
}

/** The name after `const` in the limits' own files is no use. */
function declares(file: SourceFile, index: number): boolean {
  return LIMITS_FILES.includes(file.path) && file.tokens[index - 1]?.text === 'const'
}
