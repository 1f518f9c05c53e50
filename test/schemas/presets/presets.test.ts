import t from 'tap'
import { Value } from 'typebox/value'
import {
  PRESET_SLUG_CHARS_MAX,
  PRESETS_PAGE_DEFAULT,
  PRESETS_PAGE_MAX,
} from '../../../src/schemas/presets/preset-limits.ts'
import {
  PRESETS_OFFSET_MAX,
  isPresetSlug,
  PresetPageQuery,
  PresetParams,
} from '../../../src/schemas/presets/presets.ts'

t.test('a slug has only characters that a URL does not escape, and is not a dot segment', async (t) => {
  const good = ['a', 'A-b_c.d~e', '...', '.a', '0', '-', 'x'.repeat(PRESET_SLUG_CHARS_MAX)]
  const bad = [
    '',
    '.',
    '..',
    'a b',
    'a/b',
    'a%20b',
    'é',
    'a@1',
    'a:b',
    'a\n',
    'a\0',
    'x'.repeat(PRESET_SLUG_CHARS_MAX + 1),
  ]
  for (const slug of good) t.ok(isPresetSlug(slug) && Value.Check(PresetParams, { slug }), slug)
  for (const slug of bad)
    t.notOk(isPresetSlug(slug) || Value.Check(PresetParams, { slug }), JSON.stringify(slug))
})

t.test('preset pages have 50 entries by default and at most 100; offsets have a maximum. B2', async (t) => {
  t.same([PRESETS_PAGE_MAX, PRESETS_PAGE_DEFAULT], [100, 50])
  t.ok(
    Value.Check(PresetPageQuery, {
      limit: PRESETS_PAGE_MAX,
      offset: PRESETS_OFFSET_MAX,
      workspace_id: 'research',
    }),
  )
  for (const query of [
    { limit: PRESETS_PAGE_MAX + 1 },
    { limit: 0 },
    { offset: PRESETS_OFFSET_MAX + 1 },
    { offset: -1 },
  ]) {
    t.notOk(Value.Check(PresetPageQuery, query))
  }
})
