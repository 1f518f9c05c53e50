import { join } from 'node:path'
import t from 'tap'
import { CONTAINER_ID_PART_CHARS_MAX, CONTAINER_PATH_BYTES_MAX } from '../../src/schemas/files/file-limits.ts'
import { readFrom, type Config } from '../../src/server/config.ts'
import type { Problem, Texts } from '../../src/server/config/texts.ts'
import { createLog } from '../../src/server/observe/log.ts'
import { secretsOf, secretsOfPart } from '../../src/server/main/child.ts'
import type { ChildPart } from '../../src/server/supervisor/fleet/ipc.ts'

const KEYS = { AWS_ACCESS_KEY_ID: 'AKIACANARYCANARY', AWS_SECRET_ACCESS_KEY: 'canary/secret+access=key' }
/** Bytes of the key of an object that S3 takes. */
const S3_KEY_BYTES_MAX = 1_024

function configOf(texts: Texts): Config {
  const reading = readFrom(texts)
  if (!reading.ok) throw new Error(JSON.stringify(reading.problems))
  return reading.generation.config
}

function problemsOf(texts: Texts): readonly Problem[] {
  const reading = readFrom(texts)
  return reading.ok ? [] : reading.problems
}

const bucketOf = (texts: Texts) => configOf({ ...KEYS, ...texts }).objects

t.test('without a setting, or with a folder, files are stored on disk', async (t) => {
  t.same(configOf({}).objects, { kind: 'disk', folder: join(process.cwd(), '.sluice/files') })
  t.same(configOf({ SLUICE_DATA: '/srv/sluice' }).objects, { kind: 'disk', folder: '/srv/sluice/files' })
  const here = process.cwd()
  const forms = [
    ['/srv/files', '/srv/files'],
    ['files', join(here, 'files')],
    ['./a b', join(here, 'a b')],
    ['/a:b', '/a:b'],
  ]
  for (const [given, folder] of forms) {
    t.same(configOf({ SLUICE_OBJECTS: given ?? '' }).objects, { kind: 'disk', folder })
  }
})

t.test('a bucket is accepted with and without a prefix, and the prefix gets one final slash', async (t) => {
  const cases = [
    ['s3://bucket', ''],
    ['s3://bucket/', ''],
    ['s3://bucket/a', 'a/'],
    ['s3://bucket/a/', 'a/'],
    ['s3://bucket/a/b//', 'a/b/'],
    ['s3://bucket//a', 'a/'],
    ['s3://bucket/..a', '..a/'],
    [`s3://bucket/${'a'.repeat(128)}`, `${'a'.repeat(128)}/`],
  ] as const
  for (const [given, prefix] of cases)
    t.match(bucketOf({ SLUICE_OBJECTS: given }), { kind: 's3', bucket: 'bucket', prefix }, given)
})

t.test('a mistyped bucket URL, or the URL of another service, is not used as a folder name', async (t) => {
  const refused = [
    's3:bucket',
    's3:/bucket',
    'S3://bucket',
    's3://',
    's3://B',
    's3://Bucket',
    's3://ab/..',
    's3://abc/../other',
    's3://abc/a/./b',
    's3://abc/a b',
    's3://a_c',
    's3://-abc',
    's3://key:secret@bucket',
    'gs://bucket',
    'https://bucket.example',
    'file:///srv',
    ' s3://bucket',
    ' /srv',
    ' ',
    'a\nb',
    `s3://abc/${'a'.repeat(129)}`,
    's3://abc/é',
    `s3://${'a'.repeat(64)}`,
  ]
  for (const given of refused)
    t.match(
      problemsOf({ ...KEYS, SLUICE_OBJECTS: given }),
      [{ name: 'SLUICE_OBJECTS' }],
      JSON.stringify(given),
    )
  t.notMatch(JSON.stringify(problemsOf({ ...KEYS, SLUICE_OBJECTS: 's3://key:hunter2@bucket' })), /hunter2/)
})

t.test('the longest prefix leaves room for the longest path of a container', async (t) => {
  const workspace = '0190a1b2-c3d4-7e5f-8a6b-7c8d9e0f1a2b'
  const folders = `${'a'.repeat(128)}/containers/${workspace}/sess_${'a'.repeat(CONTAINER_ID_PART_CHARS_MAX)}/`
  t.ok(folders.length + CONTAINER_PATH_BYTES_MAX <= S3_KEY_BYTES_MAX)
})

t.test('a bucket without its access key is one problem for each missing half', async (t) => {
  const bucket = { SLUICE_OBJECTS: 's3://bucket' }
  const expected = 'a non-empty value when SLUICE_OBJECTS names a bucket'
  t.match(problemsOf(bucket), [
    { name: 'AWS_ACCESS_KEY_ID', expected },
    { name: 'AWS_SECRET_ACCESS_KEY', expected },
  ])
  const [id] = Object.entries(KEYS)
  t.match(problemsOf({ ...bucket, [id?.[0] ?? '']: id?.[1] ?? '' }), [{ name: 'AWS_SECRET_ACCESS_KEY' }])
  t.same(problemsOf({ SLUICE_OBJECTS: '/srv' }), [])
})

t.test('the path style depends on the endpoint unless it is set', async (t) => {
  const endpoint = { SLUICE_S3_ENDPOINT: 'http://127.0.0.1:9000' }
  const cases = [
    [{}, false],
    [endpoint, true],
    [{ ...endpoint, SLUICE_S3_PATH_STYLE: 'auto' }, true],
    [{ ...endpoint, SLUICE_S3_PATH_STYLE: 'off' }, false],
    [{ SLUICE_S3_PATH_STYLE: 'on' }, true],
  ] as const
  for (const [texts, isPathStyle] of cases)
    t.match(bucketOf({ SLUICE_OBJECTS: 's3://bucket', ...texts }), { isPathStyle })
  for (const wrong of ['true', 'ON', '1'])
    t.match(problemsOf({ SLUICE_S3_PATH_STYLE: wrong }), [{ name: 'SLUICE_S3_PATH_STYLE' }])
})

t.test('region, endpoint and checksums have defaults that many servers accept', async (t) => {
  t.match(bucketOf({ SLUICE_OBJECTS: 's3://bucket' }), {
    region: 'us-east-1',
    endpoint: null,
    checksums: 'WHEN_REQUIRED',
  })
  const given = {
    SLUICE_OBJECTS: 's3://bucket',
    AWS_REGION: 'eu-1',
    SLUICE_S3_CHECKSUMS: 'supported',
    SLUICE_S3_ENDPOINT: 'https://s3.example',
  }
  t.match(bucketOf(given), { region: 'eu-1', endpoint: 'https://s3.example', checksums: 'WHEN_SUPPORTED' })
  t.match(problemsOf({ SLUICE_S3_ENDPOINT: 's3.example' }), [{ name: 'SLUICE_S3_ENDPOINT' }])
})

const ROOTS = ['a1'.repeat(32), Buffer.alloc(32, 7).toString('base64')]
const SECRET_TEXTS = {
  ...KEYS,
  SLUICE_OBJECTS: 's3://bucket/a',
  SLUICE_S3_ENDPOINT: 'http://user:canary-password@s3.example',
  SLUICE_ROOT_KEY: `${ROOTS[0] ?? ''}, 0123456789abcdef:${ROOTS[1] ?? ''}`,
}
const HIDDEN = [KEYS.AWS_ACCESS_KEY_ID, KEYS.AWS_SECRET_ACCESS_KEY, 'canary-password', ...ROOTS]

t.test('neither the report nor the JSON of the configuration contains a secret of storage', async (t) => {
  const reading = readFrom(SECRET_TEXTS)
  if (!reading.ok) throw new Error(JSON.stringify(reading.problems))
  const { report } = reading.generation
  for (const secret of HIDDEN) t.notOk(JSON.stringify(report).includes(secret))
  t.match(
    report.find(({ name }) => name === 'SLUICE_OBJECTS'),
    { value: 's3://bucket/a' },
  )
  t.match(
    report.find(({ name }) => name === 'AWS_SECRET_ACCESS_KEY'),
    { value: `*** (${KEYS.AWS_SECRET_ACCESS_KEY.length} characters)` },
  )
  t.notOk(JSON.stringify(configOf(SECRET_TEXTS)).includes(KEYS.AWS_SECRET_ACCESS_KEY))
})

t.test('no log line of any role shows a secret of storage, alone or within a text', async (t) => {
  const part = {
    settings: SECRET_TEXTS,
    databaseUrl: 'postgres://db.example/a',
    redis: { socketPath: '/r' },
    providerKeys: {},
  } as unknown as ChildPart
  const roles = [secretsOf({ config: configOf(SECRET_TEXTS), providerKeys: {} }), secretsOfPart(part)]
  for (const secrets of roles) {
    const lines: string[] = []
    const log = createLog({ level: 'info', base: {}, secrets, write: (line) => void lines.push(line) })
    for (const secret of HIDDEN.filter((text) => text !== 'canary-password')) {
      log.warn('sweep_failed', { detail: `before ${secret} after`, cause: new Error(secret) })
    }
    log.warn('sweep_failed', { endpoint: SECRET_TEXTS.SLUICE_S3_ENDPOINT })
    for (const secret of HIDDEN) t.notOk(lines.join('').includes(secret))
  }
})
