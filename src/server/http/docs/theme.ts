import type { THEME_STORED } from '../../../schemas/api-prefix.ts'
import { element } from './elements.ts'

/** As the dashboard has it: where both are at one address, a choice holds for both. */
const STORED: typeof THEME_STORED = 'sluice-theme'
const SYSTEM = 'auto'
const THEMES = { [SYSTEM]: 'System', light: 'Light', dark: 'Dark' }

/** Shows the theme that was chosen in this browser, and puts a choice of it into the head of the page. */
export function addTheme(): void {
  const options = Object.entries(THEMES).map(([value, text]) => element('option', { value }, text))
  const choice = element('select', { 'aria-label': 'Theme' }, ...options)
  const show = (theme: string): void => {
    document.documentElement.dataset['theme'] = theme
    choice.value = theme
  }
  choice.addEventListener('change', () => {
    keep(choice.value)
    show(choice.value)
  })
  addEventListener('storage', ({ key }) => {
    if (key === STORED || key === null) show(stored())
  })
  show(stored())
  document.querySelector('header nav')?.append(choice)
}

function stored(): string {
  try {
    const theme = localStorage.getItem(STORED) ?? ''
    return Object.hasOwn(THEMES, theme) ? theme : SYSTEM
  } catch {
    return SYSTEM
  }
}

function keep(theme: string): void {
  try {
    if (theme === SYSTEM) localStorage.removeItem(STORED)
    else localStorage.setItem(STORED, theme)
  } catch {
    // Without storage the choice lasts as long as the page.
  }
}
