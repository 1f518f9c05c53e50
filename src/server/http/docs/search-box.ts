import { element } from './elements.ts'
import { search, type SearchIndex } from './guides-search.ts'

/** The build writes it beside this script. */
const INDEX = '/docs/guides-index.js'
const RESULTS_ID = 'results'

let index: Promise<SearchIndex> | null = null

/** Loaded at the first use: most readers do not search. */
function loadIndex(): Promise<SearchIndex> {
  index ??= (import(INDEX) as Promise<{ default: SearchIndex }>).then(({ default: loaded }) => loaded)
  return index
}

/** Puts a search into the head of the page; `/` leads there. */
export function addSearch(): void {
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
  input.addEventListener('input', () => void show(input, results))
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

async function show(input: HTMLInputElement, results: HTMLElement): Promise<void> {
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

/** The arrow keys go through the results, and back to the question. */
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
