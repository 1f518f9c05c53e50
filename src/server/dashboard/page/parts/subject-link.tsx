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

/** The name of a key, model, provider or workspace, which leads to its page. */
export function SubjectLink({ to, id, text }: SubjectLinkProps): ComponentChild {
  return id === null ? NONE : <a href={hashOf(to, { id })}>{text ?? id}</a>
}
