import type { ModelEntry } from './format.ts'
import type { CatalogueProblem, Placed } from './sources.ts'

interface NameUse {
  readonly name: string
  readonly member: string
  readonly of: Placed<ModelEntry>
}

/**
 * Reports names that belong to two models. Ids, canonical slugs and aliases are one name space, so that an
 * alias can neither hide a model nor lead to another alias.
 */
export function checkNames(models: readonly Placed<ModelEntry>[]): readonly CatalogueProblem[] {
  const uses = models.flatMap(usesOf)
  const owners = new Map<string, NameUse>()
  // Ids claim their names first: when an alias and an id collide, the operator has to change the alias,
  // whichever comes first.
  for (const use of uses) if (use.member === '/id') owners.set(use.name.toLowerCase(), use)
  return uses.flatMap((use): CatalogueProblem[] => {
    const owner = owners.get(use.name.toLowerCase())
    if (owner === undefined) owners.set(use.name.toLowerCase(), use)
    if (owner === undefined || owner === use || use.member === '/id') return []
    const message = `is ${roleOf(owner)} of ${owner.of === use.of ? 'this model' : owner.of.entry.id} already`
    const path = use.of.path + use.member
    return [{ file: use.of.file, path, message, expected: 'a unique name' }]
  })
}

function usesOf(of: Placed<ModelEntry>): readonly NameUse[] {
  const { id, canonical_slug: canonical = id, aliases = [] } = of.entry
  return [
    { name: id, member: '/id', of },
    ...(canonical === id ? [] : [{ name: canonical, member: '/canonical_slug', of }]),
    ...aliases.map((name, index) => ({ name, member: `/aliases/${index}`, of })),
  ]
}

function roleOf({ member }: NameUse): string {
  if (member === '/id') return 'the id'
  return member === '/canonical_slug' ? 'the canonical slug' : 'an alias'
}
