import { importsOf, type SourceFile } from '../../support/source.ts'
import { ourTarget } from './each-import.ts'

/**
 * Groups of files that import each other in a circle, types included, one line each: no file of such a group
 * can be read, moved or tested without the others.
 */
export function importCycles(files: readonly SourceFile[]): readonly string[] {
  const imports = withoutEnds(new Map(files.map((file) => [file.path, targetsOf(file)])))
  const paths = [...imports.keys()]
  const reached = new Map(paths.map((path) => [path, reachedFrom(path, imports)]))
  const isTogether = (a: string, b: string): boolean =>
    reached.get(a)?.has(b) === true && reached.get(b)?.has(a) === true
  const groups = paths.map((path) => paths.filter((other) => isTogether(path, other)))
  return [...new Set(groups.filter((group) => group.length > 0).map((group) => group.join(' ↔ ')))]
}

/** Leaves out files that import none of the others, until each file that stays leads to a circle. */
function withoutEnds(
  imports: ReadonlyMap<string, readonly string[]>,
): ReadonlyMap<string, readonly string[]> {
  const rest = new Map([...imports].filter(([, targets]) => targets.some((target) => imports.has(target))))
  return rest.size === imports.size ? rest : withoutEnds(rest)
}

function targetsOf(file: SourceFile): readonly string[] {
  return importsOf(file).flatMap((found) => ourTarget(file, found) ?? [])
}

/** Every file that a file imports, also by way of others; the file itself only where a circle leads back. */
function reachedFrom(path: string, imports: ReadonlyMap<string, readonly string[]>): ReadonlySet<string> {
  const reached = new Set<string>()
  const open = [...(imports.get(path) ?? [])]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (reached.has(next)) continue
    reached.add(next)
    open.push(...(imports.get(next) ?? []))
  }
  return reached
}
