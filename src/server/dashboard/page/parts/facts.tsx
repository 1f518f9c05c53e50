import { Fragment, h, type ComponentChild, type ComponentChildren } from 'preact'

/** A list of names and values; null and undefined values are left out. */
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
