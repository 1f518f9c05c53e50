import t from 'tap'
import { Value } from 'typebox/value'
import {
  PRESET_SLUG_CHARS_MAX,
  PRESET_VERSION_DIGITS_MAX,
} from '../../../src/schemas/presets/preset-limits.ts'
import {
  mentionsPreset,
  modelReference,
  presetReference,
  PresetName,
} from '../../../src/schemas/presets/preset-references.ts'
import { isPresetSlug } from '../../../src/schemas/presets/presets.ts'
import { randomOf } from '../../support/wire/rate-simulation.ts'

t.test('the four forms of a reference give the preset, its version and the model', async (t) => {
  const preset = { slug: 'fast', version: null }
  const pinned = { slug: 'fast', version: 3 }
  t.same(modelReference('@preset/fast'), { model: null, preset })
  t.same(modelReference('@preset/fast@3'), { model: null, preset: pinned })
  t.same(modelReference('acme/embed:floor@preset/fast'), { model: 'acme/embed:floor', preset })
  t.same(modelReference('acme/embed@2@preset/fast@3'), { model: 'acme/embed@2', preset: pinned })
  t.same(presetReference('fast'), preset)
  t.same(presetReference('fast@3'), pinned)
})

t.test('an invalid slug or version number is not a reference', async (t) => {
  const slugs = [
    '',
    '.',
    '..',
    'a b',
    'a/b',
    'é',
    'a\0',
    'a\n',
    '%41',
    'a'.repeat(PRESET_SLUG_CHARS_MAX + 1),
    'x@preset/y',
    '@preset/y',
    '@',
  ]
  const versions = [
    '@',
    '@0',
    '@03',
    '@-1',
    '@1.5',
    '@1e3',
    '@1@2',
    '@latest',
    '@ 1',
    `@${'9'.repeat(PRESET_VERSION_DIGITS_MAX + 1)}`,
  ]
  for (const text of [
    ...slugs,
    ...['@1', '@'].map((end) => `..${end}`),
    ...versions.map((version) => `fast${version}`),
  ]) {
    t.equal(presetReference(text), null, JSON.stringify(text))
    t.notOk(Value.Check(PresetName, text), JSON.stringify(text))
    t.equal(modelReference(`@preset/${text}`), null)
    t.equal(modelReference(`acme/embed@preset/${text}`), null)
  }
  t.same(
    presetReference(`${'a'.repeat(PRESET_SLUG_CHARS_MAX)}@${'9'.repeat(PRESET_VERSION_DIGITS_MAX)}`)?.version,
    10 ** PRESET_VERSION_DIGITS_MAX - 1,
  )
})

t.test('any other @ belongs to the name of the model', async (t) => {
  for (const model of [
    'acme/embed@3',
    '@acme/embed',
    'acme/e@preset',
    '@presets/fast',
    '@Preset/fast',
    'preset/fast',
    '@',
    '',
  ]) {
    t.notOk(mentionsPreset(model), model)
    t.equal(modelReference(model), null)
  }
})

t.test('a reference is parsed into its parts, and the parts give the same text again', async (t) => {
  const seed = Math.floor(Math.random() * 2 ** 31)
  const random = randomOf(seed)
  const among = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T
  const text = (letters: readonly string[], most: number): string =>
    Array.from({ length: Math.floor(random() * (most + 1)) }, () => among(letters)).join('')
  for (let round = 0; round < 20_000; round++) {
    const slug = text(['a', 'Z', '9', '.', '-', '_', '~'], 6)
    const version = among([null, 1, 42, 999_999_999_999_999])
    const model = text(['a', '/', '@', 'preset', ':', '.'], 8)
    if (!isPresetSlug(slug) || mentionsPreset(`${model}@`)) continue
    const reference = `${slug}${version === null ? '' : `@${version}`}`
    const named = `${model}@preset/${reference}`
    // A model that ends with the beginning of the mark would move it.
    if (named.indexOf('@preset/') !== model.length) continue
    const expected = { model: model === '' ? null : model, preset: { slug, version } }
    if (JSON.stringify(modelReference(named)) !== JSON.stringify(expected)) t.fail(`seed ${seed}: ${named}`)
    const wild = text(['@', 'preset', '/', 'a', '1', '@preset/', '.', '\0'], 8)
    const found = modelReference(wild)
    if (
      found !== null &&
      `${found.model ?? ''}@preset/${found.preset.slug}${found.preset.version === null ? '' : `@${found.preset.version}`}` !==
        wild
    ) {
      t.fail(`seed ${seed}: ${JSON.stringify(wild)}`)
    }
  }
  t.pass(`seed ${seed}`)
})
