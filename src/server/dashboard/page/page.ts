import type { ComponentChild } from 'preact'
import { useEffect } from 'preact/hooks'
import type { Api } from './api.ts'
import type { LiveFeed } from './live.ts'

export interface Session {
  readonly organization: { readonly id: string; readonly name: string }
  readonly key: { readonly hash: string; readonly name: string; readonly label: string }
  readonly version: string
}

/** The props of a page's view, which may use hooks. */
export interface PageContext {
  readonly api: Api
  readonly live: LiveFeed
  readonly session: Session
  /** Filters and positions in lists from the address: they survive going back. */
  readonly query: URLSearchParams
  /** Null, an empty text and undefined remove a name. Changes the address without a new entry in the history. */
  setQuery(change: Readonly<Record<string, string | null | undefined>>): void
  /** Shows the name of the page's subject in its heading. */
  setSubject(name: string): void
  /** Shows the result of an action, or why it failed, also to screen readers. */
  say(text: string, kind?: 'done' | 'problem'): void
}

export interface Page {
  /** `keys`: the page is at `#/keys`. */
  readonly path: string
  /** Title in the navigation and of the page. */
  readonly title: string
  /** Letter that, typed after `g`, opens the page; empty: none. */
  readonly letter: string
  /** Path of the page that lists the subjects of this one; the subject's id is in the address. */
  readonly under?: string
  view(context: PageContext): ComponentChild
}

export interface Place {
  readonly path: string
  readonly query: URLSearchParams
}

/** `#/jobs?state=failed`. */
export function placeOf(hash: string): Place {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?')
  return { path, query: new URLSearchParams(query) }
}

/** The address of a page with its query, for links between pages. */
export function hashOf(
  path: string,
  query: Readonly<Record<string, string | null | undefined>> = {},
): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query))
    if (value !== null && value !== undefined && value !== '') search.set(name, value)
  const text = search.toString()
  return `#/${path}${text === '' ? '' : `?${text}`}`
}

/** Shows the name of its subject in the heading of a page. @param name undefined: not known yet */
export function useSubject({ setSubject }: PageContext, name: string | undefined): void {
  useEffect(() => {
    if (name !== undefined) setSubject(name)
  }, [name])
}
