/** Release notes of two versions. */
import t from 'tap'
import type { Definitions } from '../../support/releases/definitions.ts'
import { notesOf } from '../../support/releases/notes.ts'
import { differencesOf } from '../../support/releases/promise.ts'

const EARLIER: Definitions = {
  api: {
    operations: {
      'GET /a': {
        summary: 'Read',
        parameters: { 'query limit': { shape: 0, isRequired: false } },
        answers: {},
      },
    },
    shapes: [{ kinds: ['string'] }],
  },
  settings: { SLUICE_A: { expected: 'a number', usual: '1' } },
  failures: { busy: { statuses: [503], text: 'Later.' } },
  steps: [{ name: 'foundation', tables: ['keys'] }],
}

t.test('notes list breaking changes first, then new things, then other changes', async (t) => {
  const later: Definitions = {
    api: {
      operations: {
        'GET /a': { summary: 'Read', parameters: {}, answers: {} },
        'POST /b': { summary: 'Write', parameters: {}, answers: {} },
      },
      shapes: [],
    },
    settings: {
      SLUICE_A: { expected: 'a number', usual: '2' },
      SLUICE_B: { expected: 'on or off', usual: '"off"' },
    },
    failures: { ...EARLIER.failures, gone: { statuses: [410], text: 'It was there.' } },
    steps: [...EARLIER.steps, { name: 'log', tables: ['requests'] }],
  }
  t.equal(
    notesOf(differencesOf(EARLIER, later)),
    [
      '## Breaks callers of the earlier version\n\n- `GET /a query limit`: the parameter is gone\n',
      '## API\n\n- `POST /b`: new: Write\n',
      '## Settings\n\n- `SLUICE_A`: default 2, was 1\n- `SLUICE_B`: new: on or off; default "off"\n',
      '## Error types\n\n- `gone`: new, 410: It was there.\n',
      '## Schema\n\n- `step 2`: new, `log`: `requests`\n',
    ].join('\n'),
  )
})

t.test('reports equal definitions as equal', async (t) => {
  t.equal(notesOf(differencesOf(EARLIER, EARLIER)), 'The definitions are the same.\n')
})

t.test('a removed step, and an error type whose status changed, break callers', async (t) => {
  const later: Definitions = {
    ...EARLIER,
    failures: { busy: { statuses: [429], text: 'Later.' } },
    steps: [],
  }
  t.equal(
    notesOf(differencesOf(EARLIER, later)),
    '## Breaks callers of the earlier version\n\n- `busy`: is not 503 any more\n- `step 1`: `foundation` is gone\n',
  )
})
