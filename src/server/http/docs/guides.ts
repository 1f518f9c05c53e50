/** The script of every page of the documentation: copies blocks, searches and shows a theme. The pages can be read without it. */
import type { THEME_STORED } from '../../../schemas/api-prefix.ts'
import { element } from './elements.ts'
import { search, type SearchIndex } from './guides-search.ts'

/** Milliseconds for which a button shows that it has copied. */
const COPIED_MS = 1_500

/** The build writes it next to this script. */
const INDEX = '/docs/guides-index.js'
const RESULTS_ID = 'results'

let index: Promise<SearchIndex> | null = null

/** The same name as in the dashboard: if both are at one address, a choice applies to both. */
const STORED: typeof THEME_STORED = 'sluice-theme'
const SYSTEM = 'auto'
const THEMES = { [SYSTEM]: 'System', light: 'Light', dark: 'Dark' }

addCopying()
addSearch()
addTheme()

function addCopying(): void {
  for (const block of document.querySelectorAll('pre')) {
    const button = element('button', { type: 'button', class: 'copy' }, 'Copy')
    button.addEventListener('click', () => void copy(block, button))
    const frame = element('div', { class: 'block' })
    block.replaceWith(frame)
    frame.append(block, button)
  }
}

async function copy(block: HTMLElement, button: HTMLElement): Promise<void> {
  const text = block.textContent ?? ''
  try {
    await navigator.clipboard.writeText(text.trimEnd())
    button.textContent = 'Copied'
  } catch {
    // Browsers allow access to the clipboard only on pages served by HTTPS or by the local machine: otherwise
    // the text is selected.
    getSelection()?.selectAllChildren(block)
    button.textContent = 'Marked'
  }
  setTimeout(() => (button.textContent = 'Copy'), COPIED_MS)
}

/** Loaded at the first use: most readers do not search. */
function loadIndex(): Promise<SearchIndex> {
  index ??= (import(INDEX) as Promise<{ default: SearchIndex }>).then(({ default: loaded }) => loaded)
  return index
}

/** Adds a search to the head of the page; `/` focuses it. */
function addSearch(): void {
  const input = element('input', {
    type: 'search',
    placeholder: 'Search',
    'aria-label': 'Search the documentation',
    'aria-controls': RESULTS_ID,
    autocomplete: 'off',
  })
  const results = element('ol', { id: RESULTS_ID, class: 'results', 'aria-live': 'polite' })
  results.hidden = true
  input.addEventListener('focus', () => void loadIndex())
  input.addEventListener('input', () => void showResults(input, results))
  input.addEventListener('keydown', (event) => {
    if (event.key === 'Enter') results.querySelector('a')?.click()
    if (event.key === 'ArrowDown') move(event, results.querySelector('a'))
  })
  results.addEventListener('keydown', (event) => moveWithin(event, input))
  const box = element('search', { class: 'search' }, input, results)
  document.querySelector('header nav')?.append(box)
  document.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') results.hidden = true
    if (event.key === '/' && !isTyping(event.target)) move(event, input)
  })
  document.addEventListener('click', ({ target }) => {
    if (target instanceof Node && !box.contains(target)) results.hidden = true
  })
}

async function showResults(input: HTMLInputElement, results: HTMLElement): Promise<void> {
  const loaded = await loadIndex()
  const question = input.value.trim()
  const found = search(loaded, question)
  const items = found.map(({ path, page, title }) =>
    element(
      'li',
      {},
      element('a', { href: path }, title, ...(title === page ? [] : [element('small', {}, page)])),
    ),
  )
  results.replaceChildren(...(items.length > 0 ? items : [element('li', {}, 'No results.')]))
  results.hidden = question === ''
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest('input, textarea, select') !== null
}

function move(event: Event, to: HTMLElement | null): void {
  if (to === null) return
  event.preventDefault()
  to.focus()
}

/** Moves through the results with the arrow keys, and back to the question. */
function moveWithin(event: KeyboardEvent, input: HTMLElement): void {
  const item = event.target instanceof Element ? event.target.closest('li') : null
  const other =
    event.key === 'ArrowDown'
      ? item?.nextElementSibling
      : event.key === 'ArrowUp'
        ? item?.previousElementSibling
        : null
  if (event.key === 'ArrowUp' && item?.previousElementSibling === null) move(event, input)
  else move(event, other?.querySelector('a') ?? null)
}

/** Applies the theme chosen in this browser, and adds a choice of themes to the head of the page. */
function addTheme(): void {
  const options = Object.entries(THEMES).map(([value, text]) => element('option', { value }, text))
  const choice = element('select', { 'aria-label': 'Theme' }, ...options)
  const show = (theme: string): void => {
    document.documentElement.dataset['theme'] = theme
    choice.value = theme
  }
  choice.addEventListener('change', () => {
    keepTheme(choice.value)
    show(choice.value)
  })
  addEventListener('storage', ({ key }) => {
    if (key === STORED || key === null) show(storedTheme())
  })
  show(storedTheme())
  document.querySelector('header nav')?.append(choice)
}

function storedTheme(): string {
  try {
    const theme = localStorage.getItem(STORED) ?? ''
    return Object.hasOwn(THEMES, theme) ? theme : SYSTEM
  } catch {
    return SYSTEM
  }
}

function keepTheme(theme: string): void {
  try {
    if (theme === SYSTEM) localStorage.removeItem(STORED)
    else localStorage.setItem(STORED, theme)
  } catch {
    // Without storage the choice lasts as long as the page.
  }
}
