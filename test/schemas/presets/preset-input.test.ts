import fc from 'fast-check'
import t from 'tap'
import Type from 'typebox'
import { knownOf } from '../../../src/schemas/known-members.ts'
import { INLINE_JSON_BYTES_MAX, ISSUES_MAX, KIB } from '../../../src/schemas/limits/limits.ts'
import { PRESET_BYTES_MAX } from '../../../src/schemas/presets/preset-limits.ts'
import {
  PRESET_IGNORED_CHARS_MAX,
  PRESET_IGNORED_MAX,
  presetInputOf,
} from '../../../src/schemas/presets/preset-input.ts'
import { must } from '../../support/must.ts'
import { readPreset } from '../../support/presets/preset-tables.ts'

const request = (body: Readonly<Record<string, unknown>>) => must(presetInputOf(body, 'responses'))
/** Bytes of JSON around the text: `{}` and the two quotes. */
const filling = 'x'.repeat(PRESET_BYTES_MAX - 4)

t.test('the size of the kept fields is limited, in bytes of JSON', async (t) => {
  t.equal(PRESET_BYTES_MAX, 256 * KIB)
  t.equal(request({ instructions: filling }).systemPrompt, filling)
  for (const body of [
    { instructions: `${filling}x` },
    { instructions: filling, top_k: 1 },
    { instructions: 'é'.repeat(PRESET_BYTES_MAX / 2) },
  ]) {
    t.match(presetInputOf(body, 'responses'), {
      ok: false,
      failure: { name: 'preset_too_large', fields: { limit: String(PRESET_BYTES_MAX) } },
    })
  }
})

t.test('accepts a large body of which little is kept', async (t) => {
  const input = Array.from({ length: 20_000 }, () => ({ role: 'user', content: 'hi', more: { of: ['it'] } }))
  t.ok(JSON.stringify(input).length > INLINE_JSON_BYTES_MAX)
  t.match(readPreset('preset_responses', { model: 'a/b', input, wibble: 1 }), {
    input: { config: { model: 'a/b' }, ignored: ['input', 'wibble'] },
  })
})

t.test(
  'refuses a model that is itself a preset in every form, at its path; any other `@` belongs to the name',
  async (t) => {
    const needs = {
      preset_responses: {},
      preset_chat: { messages: [] },
      preset_messages: { messages: null },
    } as const
    for (const form of ['preset_responses', 'preset_chat', 'preset_messages'] as const) {
      const read = (body: object) => readPreset(form, { ...needs[form], ...body })
      for (const model of ['@preset/a', '@preset/a@2', 'acme/text@preset/a', '@preset/']) {
        t.same(read({ model }), { failure: 'body_invalid', paths: ['/model'] }, `${form} ${model}`)
        t.same(
          read({ model, models: ['acme/text', model] }),
          { failure: 'body_invalid', paths: ['/model', '/models/1'] },
          `${form} ${model} among fallbacks`,
        )
      }
      t.match(read({ model: 'acme/text@2', models: ['@cf/embed'] }), {
        input: { config: { model: 'acme/text@2', models: ['@cf/embed'] } },
      })
    }
    const many = readPreset('preset_responses', {
      models: Array.from({ length: 2 * ISSUES_MAX }, () => '@preset/a'),
    })
    t.equal('paths' in many ? many.paths.length : 0, ISSUES_MAX)
  },
)

t.test('ignored names have limits on number and length, and names of the form come first', async (t) => {
  const many = Object.fromEntries(
    Array.from({ length: 2 * PRESET_IGNORED_MAX }, (_, i) => [`a${String(i).padStart(4, '0')}`, 1]),
  )
  const { ignored } = request({ ...many, user: 'u', input: 'x' })
  t.equal(ignored.length, PRESET_IGNORED_MAX)
  t.same([ignored.at(-2), ignored.at(-1)], ['input', 'user'])
  t.same(ignored, [...ignored].sort())
  const long = '😀'.repeat(PRESET_IGNORED_CHARS_MAX)
  t.same(request({ [long]: 1 }).ignored, [long])
  t.same(request({ [`${long}x`]: 1 }).ignored, [`${'😀'.repeat(PRESET_IGNORED_CHARS_MAX - 1)}…`])
})

t.test('`__proto__`, `constructor` and similar names are handled safely as names of fields', async (t) => {
  const body =
    '{"__proto__":{"model":"x"},"constructor":1,"toString":2,"hasOwnProperty":3,"metadata":{"constructor":"c","__proto__":"p"}}'
  t.same(readPreset('preset_responses', body), {
    input: {
      config: { metadata: { constructor: 'c' } },
      systemPrompt: null,
      source: 'responses',
      ignored: ['constructor', 'hasOwnProperty', 'toString'],
    },
  })
})

t.test('no field is both kept and ignored, no kept field is null, and reading is idempotent', (t) => {
  const value = fc.jsonValue({ maxDepth: 3 })
  const names = [
    'model',
    'models',
    'tools',
    'text',
    'reasoning',
    'metadata',
    'input',
    'user',
    'temperature',
    'stop_server_tools_when',
    'x',
  ]
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom(...names), value), (body) => {
      const read = readPreset('preset_responses', body)
      if (!('input' in read)) return
      const { config, ignored } = read.input
      const sent = Object.entries(body)
        .filter(([, each]) => each !== null)
        .map(([name]) => name)
      if ([...Object.keys(config), ...ignored].sort().join() !== sent.sort().join())
        throw new Error('a field is lost or told twice')
      const again = readPreset('preset_responses', config)
      if (!('input' in again) || JSON.stringify(again.input.config) !== JSON.stringify(config))
        throw new Error('not kept as it is')
    }),
  )
  t.end()
})

t.test(
  'members that a schema does not know are removed at every depth, except where it allows others',
  async (t) => {
    const Inner = Type.Object({ a: Type.Integer() })
    const shape = Type.Object({
      list: Type.Array(Type.Union([Inner, Type.Null()])),
      free: Type.Object({}, { additionalProperties: true }),
      any: Type.Unknown(),
    })
    const value = { list: [{ b: 1, a: 2 }, null], free: { x: { y: 1 } }, any: [{ z: 1 }], more: 1 }
    t.same(knownOf(shape, value), { list: [{ a: 2 }, null], free: { x: { y: 1 } }, any: [{ z: 1 }] })
  },
)
