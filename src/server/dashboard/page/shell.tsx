import { h, type ComponentChild } from 'preact'
import { useEffect, useErrorBoundary, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { useLive, type LiveFeed } from './live.ts'
import { hashOf, type Page, type PageContext, type Place, placeOf, type Session } from './page.ts'
import { countText } from './pages/now/findings.tsx'
import { Palette } from './palette/palette.tsx'
import { chooseTheme, THEMES, ThemeSwitch } from './theme.tsx'
import { messageOf, type Api } from './api.ts'
import type { Entry } from './palette/entries.ts'
import { auditPage } from './pages/audit.tsx'
import { directoryPage } from './pages/setup/directory.tsx'
import { filesPage } from './pages/files.tsx'
import { jobsPage } from './pages/jobs.tsx'
import { keysPage } from './pages/keys.tsx'
import { modelsPage } from './pages/models.tsx'
import { nowPage } from './pages/now.tsx'
import { requestsPage } from './pages/calls/requests.tsx'
import { presetsPage } from './pages/setup/presets.tsx'
import { spendPage } from './pages/spend.tsx'
import { startPage } from './pages/start.tsx'
import { keyPage } from './pages/subjects/key-page.tsx'
import { modelPage } from './pages/subjects/model-page.tsx'
import { providerPage } from './pages/subjects/provider-page.tsx'
import { workspacePage, workspacesPage } from './pages/subjects/workspace-page.tsx'
import { webhooksPage } from './pages/webhooks.tsx'

/** On a Mac, commands use another modifier key. */
const isMac = navigator.platform.startsWith('Mac')
/** Milliseconds for which a message is shown. */
const MESSAGE_MS = 8_000

interface Message {
  readonly text: string
  readonly kind: 'done' | 'problem'
}

export interface SignedIn {
  readonly api: Api
  readonly live: LiveFeed
  readonly session: Session
  /** No model was called yet. */
  readonly isFresh: boolean
  /** A step of the page Start is open. */
  readonly isStarting: boolean
  signOut(): void
}

/** The frame around every page, and the choice of the page. */
export function Shell({ signOut, ...signedIn }: SignedIn): ComponentChild {
  const { isFresh, isStarting } = signedIn
  const { place, setQuery } = usePlace()
  const { message, say } = useMessage()
  const { page, subject, title, heading, setSubject } = useHeaded(place, isFresh)
  const [isCommanding, setCommanding] = useState(false)
  useShortcuts(PAGES, () => setCommanding(true))
  const skip = (event: Event): void => {
    event.preventDefault()
    heading.current?.focus()
  }
  return (
    <div class="shell">
      <a class="skip" href="#main" onClick={skip}>
        Skip to content
      </a>
      <header class="top">
        <strong class="brand">
          <img src="mark.svg" width={22} height={22} alt="" />
          Sluice
        </strong>
        <Navigation pages={shownPages(isStarting)} current={page?.under ?? page?.path} />
        <Corner {...signedIn} signOut={signOut} openCommands={() => setCommanding(true)} />
      </header>
      <main id="main">
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {page === undefined ? (
          <p class="notice warn">
            {'No page at '}
            <code>{`#/${place.path}`}</code>
            <a href={hashOf('now')}>Go to Now</a>
          </p>
        ) : (
          <PageView
            key={`${page.path} ${subject}`}
            page={page}
            context={{
              ...signedIn,
              query: place.query,
              setQuery,
              say,
              setSubject,
            }}
          />
        )}
      </main>
      {isCommanding && (
        <Palette
          api={signedIn.api}
          fixed={fixedEntries(shownPages(true), signOut)}
          onClose={() => setCommanding(false)}
        />
      )}
      <div class="messages" role="status" aria-live="polite">
        {message !== null && <p class={message.kind}>{message.text}</p>}
      </div>
    </div>
  )
}

function Corner({
  live,
  session: { organization, key },
  signOut,
  openCommands,
}: SignedIn & { openCommands(): void }): ComponentChild {
  return (
    <div class="corner">
      <LiveState live={live} />
      <span class="hint who" title={`${key.name} ${key.label}`}>
        {organization.name}
      </span>
      <button type="button" class="quiet" aria-keyshortcuts="Control+K Meta+K" onClick={openCommands}>
        {'Commands '}
        <kbd>{isMac ? '⌘K' : 'Ctrl K'}</kbd>
      </button>
      <ThemeSwitch />
      <button type="button" class="quiet" onClick={signOut}>
        Sign out
      </button>
    </div>
  )
}

/** Shows a page; an error in it does not affect the others. */
function PageView({ page, context }: { readonly page: Page; readonly context: PageContext }): ComponentChild {
  const [problem, reset] = useErrorBoundary()
  if (problem !== undefined)
    return (
      <div class="notice bad" role="alert">
        <p>{`This page could not be displayed: ${messageOf(problem)}`}</p>
        <button type="button" onClick={reset}>
          Try again
        </button>
      </div>
    )
  return <page.view {...context} />
}

function Navigation({
  pages,
  current,
}: {
  readonly pages: readonly Page[]
  /** Path of the page that is shown, or of its parent. */
  readonly current: string | undefined
}): ComponentChild {
  return (
    <nav aria-label="Pages">
      <ul>
        {pages.map(({ path, title, letter }) => (
          <li key={path}>
            <a href={hashOf(path)} aria-current={path === current ? 'page' : undefined} title={`g ${letter}`}>
              {title}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  )
}

/** The state of the node, shown on every page. */
function LiveState({ live }: Pick<SignedIn, 'live'>): ComponentChild {
  const { latest, isStale, problem } = useLive(live)
  const findings = latest?.findings ?? []
  const worst = findings.some(({ severity }) => severity === 'bad')
    ? 'bad'
    : findings.length > 0
      ? 'warn'
      : 'good'
  const text = isStale ? 'not live' : findings.length === 0 ? 'no findings' : countText(findings.length)
  return (
    <a href={hashOf('now')} class={`live ${isStale ? 'plain' : worst}`} title={problem ?? undefined}>
      {text}
    </a>
  )
}

interface Headed {
  /** Undefined: no page here. */
  readonly page: Page | undefined
  /** Id of the page's subject; empty: many subjects. A change of the id redraws the page. */
  readonly subject: string
  readonly title: string
  readonly heading: { current: HTMLHeadingElement | null }
  readonly setSubject: PageContext['setSubject']
}

/** The page at an address, and its heading, which gets the focus when the address changes. */
function useHeaded({ path: wanted, query }: Place, isFresh: boolean): Headed {
  const id = query.get('id') ?? ''
  const page =
    wanted === ''
      ? landingOf(isFresh)
      : PAGES.find(({ path, under }) => path === wanted && (under === undefined || id !== ''))
  const subject = page?.under === undefined ? '' : id
  const heading = useRef<HTMLHeadingElement | null>(null)
  const [named, setNamed] = useState({ subject, name: '' })
  const name = named.subject === subject ? named.name : ''
  const title = page === undefined ? 'Page not found' : `${page.title} ${name}`.trim()
  useLayoutEffect(() => {
    document.title = `${title} – Sluice`
  }, [title])
  useLayoutEffect(() => {
    heading.current?.focus()
    document.querySelector('nav [aria-current]')?.scrollIntoView({ inline: 'nearest', block: 'nearest' })
    window.scrollTo(0, 0)
  }, [page, subject])
  return { page, subject, title, heading, setSubject: (text) => setNamed({ subject, name: text }) }
}

function usePlace(): { readonly place: Place; readonly setQuery: PageContext['setQuery'] } {
  const [place, setPlace] = useState(() => placeOf(location.hash))
  useEffect(() => {
    const look = (): void => setPlace(placeOf(location.hash))
    addEventListener('hashchange', look)
    return () => removeEventListener('hashchange', look)
  }, [])
  const setQuery: PageContext['setQuery'] = (change) => {
    const here = placeOf(location.hash)
    history.replaceState(null, '', hashOf(here.path, { ...Object.fromEntries(here.query), ...change }))
    setPlace(placeOf(location.hash))
  }
  return { place, setQuery }
}

function useMessage(): { readonly message: Message | null; readonly say: PageContext['say'] } {
  const [message, setMessage] = useState<Message | null>(null)
  useEffect(() => {
    if (message === null) return undefined
    const timer = setTimeout(() => setMessage(null), MESSAGE_MS)
    return () => clearTimeout(timer)
  }, [message])
  return { message, say: (text, kind = 'done') => setMessage({ text, kind }) }
}

/** Actions on pages: the address opens their dialog. */
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

/** Commands that are listed before anything is typed. */
function fixedEntries(pages: readonly Page[], signOut: () => void): readonly Entry[] {
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

/** Milliseconds between `g` and the letter of a page. */
const PAIR_MS = 1_000
/** Selector of the search field of a page. */
const SEARCH = 'main input[type=search], main [role=search] input'

/**
 * `g n` opens the page with the letter `n`, and `/` focuses the search of the page, unless the focus is in a
 * field or a dialog is open. Control or Command with `k` opens the commands everywhere.
 */
function useShortcuts(pages: readonly Page[], openCommands: () => void): void {
  const open = useRef(openCommands)
  open.current = openCommands
  useEffect(() => {
    let leadAt = -Infinity
    const press = (event: KeyboardEvent): void => {
      const { key, target, timeStamp } = event
      if ((event.ctrlKey || event.metaKey) && !event.altKey && key.toLowerCase() === 'k') {
        // The browser's search uses the same keys.
        event.preventDefault()
        return open.current()
      }
      const isTyped = target instanceof Element && target.closest('input, select, textarea, dialog') !== null
      if (isTyped || event.ctrlKey || event.metaKey || event.altKey) return
      if (key === '/') {
        event.preventDefault()
        const search = document.querySelector<HTMLInputElement>(SEARCH)
        if (search === null) return open.current()
        search.focus()
        return search.select()
      }
      const page = timeStamp - leadAt < PAIR_MS ? pages.find(({ letter }) => letter === key) : undefined
      leadAt = key === 'g' && page === undefined ? timeStamp : -Infinity
      if (page !== undefined) location.hash = hashOf(page.path)
    }
    addEventListener('keydown', press)
    return () => removeEventListener('keydown', press)
  }, [pages])
}

/** In the order of the navigation. */
const PAGES: readonly Page[] = [
  startPage,
  nowPage,
  requestsPage,
  spendPage,
  keysPage,
  workspacesPage,
  jobsPage,
  webhooksPage,
  filesPage,
  modelsPage,
  presetsPage,
  directoryPage,
  auditPage,
  keyPage,
  modelPage,
  providerPage,
  workspacePage,
]

/** The first page of a session: Start until a model was called, since the other pages are empty. */
const landingOf = (isFresh: boolean): Page => (isFresh ? startPage : nowPage)

/** Pages in the navigation; Start is included while one of its steps is open. */
const shownPages = (isStarting: boolean): readonly Page[] =>
  PAGES.filter((page) => page.under === undefined && (isStarting || page !== startPage))
