import { Fragment, h, type ComponentChild, type ComponentChildren } from 'preact'

/** Names and what is known of each; what is null or undefined is left out. */
export function Facts({
  facts,
}: {
  readonly facts: readonly (readonly [name: string, fact: ComponentChildren])[]
}): ComponentChild {
  const known = facts.filter(([, fact]) => fact !== null && fact !== undefined && fact !== false)
  return (
    <dl class="facts">
      {known.map(([name, fact]) => (
        <Fragment key={name}>
          <dt>{name}</dt>
          <dd>{fact}</dd>
        </Fragment>
      ))}
    </dl>
  )
}
