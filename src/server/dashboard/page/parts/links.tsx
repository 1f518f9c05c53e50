import { h, type ComponentChild } from 'preact'
import { hashOf } from '../page.ts'
import { NONE } from './figures.tsx'

export interface SubjectLinkProps {
  /** Path of the page. */
  readonly to: 'key' | 'model' | 'provider' | 'workspace'
  readonly id: string | null
  /** Left out: the id. */
  readonly text?: string
}

/** The name of a key, model, provider or workspace, with a link to its page. */
export function SubjectLink({ to, id, text }: SubjectLinkProps): ComponentChild {
  return id === null ? NONE : <a href={hashOf(to, { id })}>{text ?? id}</a>
}

/** Shown on a page that is empty until a model is called. */
export function StartLink(): ComponentChild {
  return <a href={hashOf('start')}>How to make a call</a>
}

/** Shown on a page that is empty while a part of Sluice is not used. @param page of the guides */
export function GuideLink({ page }: { readonly page: string }): ComponentChild {
  return <a href={`/docs/guides/${page}`}>Open the guide</a>
}
