import { h, type ComponentChild } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { THEME_STORED } from '../../../schemas/api-prefix.ts'
import { THEME_EVENT } from './parts/plot.tsx'

/** The same name as in the documentation: on the same port, the choice applies to both. */
const STORED: typeof THEME_STORED = 'sluice-theme'
const SYSTEM = 'auto'

export const THEMES: readonly (readonly [theme: string, text: string])[] = [
  [SYSTEM, 'System'],
  ['light', 'Light'],
  ['dark', 'Dark'],
]

/** The theme chosen in this browser, or the system's preference. */
function storedTheme(): string {
  try {
    const stored = localStorage.getItem(STORED)
    return THEMES.find(([theme]) => theme === stored)?.[0] ?? SYSTEM
  } catch {
    return SYSTEM
  }
}

function show(theme: string): void {
  document.documentElement.dataset['theme'] = theme
  document.dispatchEvent(new Event(THEME_EVENT))
}

/** Applies a theme, and stores it in the browser. */
export function chooseTheme(theme: string): void {
  try {
    if (theme === SYSTEM) localStorage.removeItem(STORED)
    else localStorage.setItem(STORED, theme)
  } catch {
    // Without storage the choice lasts as long as the page.
  }
  show(theme)
}

/** Applies the chosen theme before the first drawing, and later changes made in another window. */
export function followTheme(): void {
  show(storedTheme())
  addEventListener('storage', ({ key }) => (key === STORED || key === null) && show(storedTheme()))
}

const shownTheme = (): string => document.documentElement.dataset['theme'] ?? SYSTEM

/** Switches between dark, light and the system's preference. */
export function ThemeSwitch(): ComponentChild {
  const [theme, setTheme] = useState(shownTheme)
  useEffect(() => {
    const look = (): void => setTheme(shownTheme())
    document.addEventListener(THEME_EVENT, look)
    return () => document.removeEventListener(THEME_EVENT, look)
  }, [])
  const change = (event: Event): void => chooseTheme((event.currentTarget as HTMLSelectElement).value)
  return (
    <select class="quiet" aria-label="Theme" onChange={change}>
      {THEMES.map(([value, text]) => (
        <option key={value} value={value} selected={value === theme}>
          {text}
        </option>
      ))}
    </select>
  )
}
