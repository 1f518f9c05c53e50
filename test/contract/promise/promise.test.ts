/** What this version keeps of the commit that the promise begins with. docs/operate/upgrading.md. */
import { readFileSync } from 'node:fs'
import t from 'tap'
import { MIGRATIONS } from '../../../src/server/store/migrations/migrate.ts'
import { definitionsOf, type Definitions } from '../../support/releases/definitions.ts'
import { PROMISED_DEFINITIONS } from '../../support/releases/earlier-tree.ts'
import { breaksOf, differencesOf } from '../../support/releases/promise.ts'
import { ROOT } from '../../support/source.ts'

/** Shapes of hundreds of operations on a machine that does ten other things. */
t.setTimeout(600_000)

const kept = JSON.parse(readFileSync(`${ROOT}${PROMISED_DEFINITIONS}`, 'utf8')) as Definitions
const now = await definitionsOf(ROOT)

/** What docs/operate/upgrading.md excepts, each with its reason. */
const EXCEPTIONS = [
  // It was always null, and is the tier that the provider reported.
  'GET /generation 200.data.service_tier: may be `string` now',
  // A price that nothing reads would only seem to be charged.
  'POST /private-endpoints body.pricing: other members are refused now',
]

t.test('nothing that was promised is removed, newly required or changed', async (t) => {
  t.ok(Object.keys(kept.api.operations).length > 100)
  t.same(breaksOf(differencesOf(kept, now)), EXCEPTIONS)
})

t.test('the current definitions do not differ from themselves', async (t) => {
  const { api, settings, failures, schema } = differencesOf(now, now)
  t.same([...api, ...settings, ...failures, ...schema], [])
})

t.test('the promised version runs on the current database schema', async (t) => {
  const most = kept.steps.length
  t.same(
    MIGRATIONS.filter(({ oldestBinary }) => oldestBinary > most).map(
      ({ name, oldestBinary }) => `${name}: oldestBinary ${oldestBinary}, ${most} at most`,
    ),
    [],
  )
})

t.test('finds a removed operation, member, value, setting, error type and step', async (t) => {
  const { api, settings, failures, steps } = now
  const without = <T>(entries: Readonly<Record<string, T>>, name: string): Record<string, T> =>
    Object.fromEntries(Object.entries(entries).filter(([one]) => one !== name))
  const lessApi = { ...api, operations: without(api.operations, 'POST /embeddings') }
  t.same(breaksOf(differencesOf(now, { ...now, api: lessApi })), ['POST /embeddings: the operation is gone'])
  const lessShapes = api.shapes.map((shape) => ({
    ...shape,
    ...(shape.objects !== undefined && {
      objects: shape.objects.map((one) => ({ ...one, members: without(one.members, 'encoding_format') })),
    }),
  }))
  const found = breaksOf(differencesOf(now, { ...now, api: { ...api, shapes: lessShapes } }))
  t.ok(found.includes('POST /embeddings body.encoding_format: the member is gone'), found.join('\n'))
  t.same(breaksOf(differencesOf(now, { ...now, settings: without(settings, 'SLUICE_PORT') })), [
    'SLUICE_PORT: the setting is gone',
  ])
  t.same(breaksOf(differencesOf(now, { ...now, failures: without(failures, 'busy') })), [
    'busy: the error type is gone',
  ])
  const [first, ...others] = steps
  const renamed = first === undefined ? others : [{ ...first, name: 'other' }, ...others]
  t.same(breaksOf(differencesOf(now, { ...now, steps: renamed })), [
    `step 1: \`${first?.name}\` was released and is another`,
  ])
})
