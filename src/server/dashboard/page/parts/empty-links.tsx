import { h, type ComponentChild } from 'preact'
import { hashOf } from '../page.ts'

/** From a page that is empty while no model is called. */
export function StartLink(): ComponentChild {
  return <a href={hashOf('start')}>How to make a call</a>
}

/** From a page that is empty while a part of Sluice is not used. @param page of the guides */
export function GuideLink({ page }: { readonly page: string }): ComponentChild {
  return <a href={`/docs/guides/${page}`}>Open the guide</a>
}
