import type { ComponentChild } from 'preact'
import { useEffect } from 'preact/hooks'
import type { Api } from './api.ts'
import type { LiveFeed } from './live.ts'

export interface Session {
  readonly organization: { readonly id: string; readonly name: string }
  readonly key: { readonly hash: string; readonly name: string; readonly label: string }
  readonly version: string
}

/** What a page is given; it is the props of its view, which may use hooks. */
export interface PageContext {
  readonly api: Api
  readonly live: LiveFeed
  readonly session: Session
  /** Filters and places in lists, as they stand in the address: they survive a step back. */
  readonly query: URLSearchParams
  /** Null, an empty text and undefined remove a name. The address changes, without a step in the history. */
  setQuery(change: Readonly<Record<string, string | null | undefined>>): void
  /** Names what a page of one subject is about, in its heading. */
  setSubject(name: string): void
  /** Shows what was done, or why it failed, also to screen readers. */
  say(text: string, kind?: 'done' | 'problem'): void
}

export interface Page {
  /** `keys`: the page is at `#/keys`. */
  readonly path: string
  /** In the navigation and as the heading. */
  readonly title: string
  /** After `g`: the key that leads to it; empty: none. */
  readonly letter: string
  /** Path of the page that lists what this one is about, whose id stands in the address. */
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

/** The address of a place, for links between pages. */
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

/** Heads a page of one subject with its name. @param name undefined: not known yet */
export function useSubject({ setSubject }: PageContext, name: string | undefined): void {
  useEffect(() => {
    if (name !== undefined) setSubject(name)
  }, [name])
}
