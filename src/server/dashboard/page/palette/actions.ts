import { hashOf, type Page } from '../page.ts'
import { chooseTheme, THEMES } from '../theme.tsx'
import type { Entry } from './entries.ts'

/** What can be done on pages: the address opens the dialog for it. */
const DEEDS: readonly (readonly [text: string, path: string, query: Readonly<Record<string, string>>])[] = [
  ['Create a key', 'keys', { do: 'create' }],
  ['Set a budget', 'spend', { do: 'budget' }],
  ['Send test webhook', 'webhooks', { do: 'test' }],
  ['Show failed calls', 'requests', { show: 'failed' }],
  ['Show dead letters', 'webhooks', { state: 'dead' }],
]
const READ: readonly (readonly [text: string, address: string])[] = [
  ['Open the guides', '/docs/guides'],
  ['Open the API reference', '/docs'],
]

/** Commands that are there before anything is typed. */
export function fixedEntries(pages: readonly Page[], signOut: () => void): readonly Entry[] {
  const action = (text: string, run: () => void): Entry => ({ id: text, kind: 'Action', text, run })
  return [
    ...pages.map(({ path, title, letter }): Entry => ({
      id: `page ${path}`,
      kind: 'Page',
      text: title,
      note: `g ${letter}`,
      run: () => void (location.hash = hashOf(path)),
    })),
    ...DEEDS.map(([text, path, query]) => action(text, () => void (location.hash = hashOf(path, query)))),
    ...THEMES.map(([theme, text]) => action(`Theme: ${text.toLowerCase()}`, () => chooseTheme(theme))),
    ...READ.map(([text, address]) => action(text, () => void window.open(address, '_blank', 'noopener'))),
    action('Sign out', signOut),
  ]
}
