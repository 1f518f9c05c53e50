import { Fragment, h, type ComponentChild, type ComponentChildren } from 'preact'

/** Names and what is known of each; what is null or undefined is left out. */
export function Facts({
  facts,
}: {
  readonly facts: readonly (readonly [name: string, fact: ComponentChildren])[]
}): ComponentChild {
  const known = facts.filter(([, fact]) => fact !== null && fact !== undefined && fact !== false)
  return h(
    'dl',
    { class: 'facts' },
    known.map(([name, fact]) => h(Fragment, { key: name }, h('dt', null, name), h('dd', null, fact))),
  )
}
