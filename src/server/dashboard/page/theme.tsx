import { h, type ComponentChild } from 'preact'
import { useLayoutEffect, useState } from 'preact/hooks'
import { THEME_EVENT } from './parts/plot.tsx'

const THEMES = [
  ['auto', 'Auto'],
  ['light', 'Light'],
  ['dark', 'Dark'],
] as const

/** Dark or light, as the system prefers unless the person has chosen. */
export function ThemeSwitch(): ComponentChild {
  const [theme, setTheme] = useState<string>(document.documentElement.dataset['theme'] ?? 'auto')
  useLayoutEffect(() => {
    document.documentElement.dataset['theme'] = theme
    document.dispatchEvent(new Event(THEME_EVENT))
  }, [theme])
  const change = (event: Event): void => setTheme((event.currentTarget as HTMLSelectElement).value)
  return (
    <select class="quiet" aria-label="Colours" onChange={change}>
      {THEMES.map(([value, text]) => (
        <option key={value} value={value} selected={value === theme}>
          {text}
        </option>
      ))}
    </select>
  )
}
