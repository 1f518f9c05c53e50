/** Finds dead links of the documentation. */
import { posix } from 'node:path'
import { idsOf, withoutBlocks, type Page } from './citation-rules.ts'

/** Paths of a running node, and addresses outside. They are not checked. */
const ELSEWHERE = /^(?:[a-z][a-z0-9+.-]*:|\/)/i

export interface Repository {
  /** Pages by their path from the root. */
  readonly pages: readonly Page[]
  /** Whether a file or folder is there. @param path from the root */
  exists(path: string): boolean
}

/** Links to files that are not there, and to headings that their page does not have, one line each. */
export function deadLinks({ pages, exists }: Repository): readonly string[] {
  const anchors = new Map<string, ReadonlySet<string>>()
  const anchorsOn = (page: Page): ReadonlySet<string> => {
    const known = anchors.get(page.path) ?? new Set([...idsOf(page.text), ...slugsOf(page.text)])
    anchors.set(page.path, known)
    return known
  }
  return pages.flatMap((page) =>
    linksOf(page.text).flatMap(({ target, line }) => {
      const [file = '', anchor] = target.split('#', 2)
      const path =
        file === '' ? page.path : posix.normalize(posix.join(posix.dirname(page.path), decodeURI(file)))
      if (path.startsWith('../') || !exists(path))
        return [`${page.path}:${line} ${target}: there is no ${path}`]
      const there = pages.find((one) => one.path === path)
      if (anchor === undefined || there === undefined || anchorsOn(there).has(anchor)) return []
      return [`${page.path}:${line} ${target}: ${path} has no ${anchor}`]
    }),
  )
}

interface Link {
  readonly target: string
  readonly line: number
}

/** Links and images inside the repository, those in code left out. */
export function linksOf(text: string): readonly Link[] {
  const prose = withoutBlocks(text).replace(/`[^`\n]*`/g, (code) => '_'.repeat(code.length))
  const shapes = [
    /\]\(\s*<?([^\s)>]+)>?(?:\s+"[^"]*")?\s*\)/g,
    /\b(?:href|src)="([^"]+)"/g,
    /^ *\[[^\]\n]+\]:\s*(\S+)/gm,
  ]
  return shapes
    .flatMap((shape) => [...prose.matchAll(shape)])
    .map((match) => ({ target: match[1] ?? '', line: prose.slice(0, match.index).split('\n').length }))
    .filter(({ target }) => !ELSEWHERE.test(target))
}

/** Anchors of the headings, as GitHub makes them. */
function slugsOf(text: string): readonly string[] {
  const seen = new Map<string, number>()
  return [...withoutBlocks(text).matchAll(/^ {0,3}#{1,6} +(.+?) *#*$/gm)].map(([, heading = '']) => {
    const words = heading
      .replace(/<[^>]*>/g, '')
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .trim()
      .toLowerCase()
    const slug = words.replace(/[^\p{L}\p{N}\p{M}_ -]/gu, '').replaceAll(' ', '-')
    const count = seen.get(slug) ?? 0
    seen.set(slug, count + 1)
    return count === 0 ? slug : `${slug}-${count}`
  })
}
