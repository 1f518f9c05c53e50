// Joins modules into one, in the order of their dependencies; what a module does not export stays in a scope of
// its own. As one file the dashboard compresses to two thirds of the size of its separate modules. The tool
// handles the forms that the compiler writes, and throws for every other form.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, posix } from 'node:path'

const IMPORT = /^import (?:\{([^{}]*)\}|(\w+)) from (["'])([^"']+)\3;?$/gm
const EXPORT = /^export (?=(?:(?:async )?function\*?|const|class) ([\w$]+))/gm
const EMPTY = /^export \{\};?$/gm
const LEFT = /^(?:import|export)\b.*/m
/** Names that a browser gives to every script: an export of such a name would hide it from other modules. */
const GIVEN = /^declare (?:var|let|const|function|class) ([\w$]+)/gm

/**
 * @param {ReadonlyMap<string, string>} modules texts by their paths, such as `parts/badge.js`
 * @param {string} entry path of the module that runs last, since it needs all the others
 * @returns {string} a module with the external imports of all modules, and without exports
 */
export function joinModules(modules, entry) {
  const names = new SharedNames()
  const done = new Map()
  const texts = []
  const add = (path, trail) => {
    if (trail.includes(path))
      throw new Error(`modules need each other in a circle: ${[...trail, path].join(' → ')}`)
    if (!modules.has(path)) throw new Error(`${trail.at(-1)} imports ${path}, which is not there`)
    if (done.has(path)) return done.get(path)
    const { exported, given, body } = scopeOf(path, modules.get(path), (from, name) => {
      if (!from.startsWith('.')) return names.ofOutside(from, name)
      return add(posix.join(posix.dirname(path), from), [...trail, path]).get(name)
    })
    const shared = new Map(exported.map((name) => [name, names.claim(name)]))
    done.set(path, shared)
    const told = exported.length === 0 ? '' : `const [${[...shared.values()].join(', ')}] = `
    const end = exported.length === 0 ? '' : `\nreturn [${exported.join(', ')}];`
    const [taken, owns] = [given.map(([shared]) => shared), given.map(([, own]) => own)]
    texts.push(`${told}((${owns.join(', ')}) => {\n${body}${end}\n})(${taken.join(', ')});\n`)
    return shared
  }
  add(entry, [])
  return [...names.lines(), ...texts].join('')
}

/** Names at the top of the joined module: each stands for one thing in all modules. */
class SharedNames {
  #taken = givenNames()
  #outside = new Map()

  /** The name itself, unless a browser or another module has it. */
  claim(name) {
    let free = name
    for (let nth = 1; this.#taken.has(free); nth++) free = `${name}$${nth}`
    this.#taken.add(free)
    return free
  }

  /** @param name of an export of a package, `default` among them */
  ofOutside(from, name) {
    const known = this.#outside.get(from) ?? new Map()
    this.#outside.set(from, known)
    if (!known.has(name)) known.set(name, this.claim(name === 'default' ? '$default' : name))
    return known.get(name)
  }

  lines() {
    const packages = [...this.#outside]
    return [
      ...packages.map(([from], nth) => `import * as $x${nth} from "${from}";\n`),
      ...packages.flatMap(([, known], nth) =>
        [...known].map(([name, shared]) => `const ${shared} = $x${nth}.${name};\n`),
      ),
    ]
  }
}

/**
 * The globals of browsers and of the language, as the compiler of the page knows them. Its package for this
 * platform has the files; the lint tools have another compiler, which a build must not need.
 */
function givenNames() {
  const compiler = `@typescript/typescript-${process.platform}-${process.arch}/package.json`
  const library = createRequire(new URL('../package.json', import.meta.url)).resolve(compiler)
  const names = [...readFileSync(join(dirname(library), 'lib/lib.dom.d.ts'), 'utf8').matchAll(GIVEN)].map(
    ([, name]) => name,
  )
  return new Set([...names, ...Object.getOwnPropertyNames(globalThis)])
}

/**
 * The text of a module within a function, the names that it exports, and what it is given. An import is a name
 * at the top; one that is called otherwise here is an argument, since the module may have a name like it.
 * @param nameOf the name at the top of an export of another module
 */
function scopeOf(path, text, nameOf) {
  const [exported, given] = [[], []]
  const body = text
    .replace(IMPORT, (_all, names, whole, _quote, from) => {
      const pairs = importsOf(names, whole).map(([name, own]) => [nameOf(from, name), own])
      given.push(...pairs.filter(([shared, own]) => shared !== own))
      return ''
    })
    .replace(EXPORT, (_all, name) => (exported.push(name), ''))
    .replace(EMPTY, '')
  const left = LEFT.exec(body)
  if (left !== null) throw new Error(`${path} has a form that is not known: ${left[0]}`)
  return { exported, given, body: body.replace(/\n{2,}/g, '\n').trim() }
}

/** `one, two as other` as pairs of the name there and the name here. */
function importsOf(names, whole) {
  if (whole !== undefined) return [['default', whole]]
  return names
    .split(',')
    .map((name) => name.trim().split(' as '))
    .filter(([name]) => name !== '')
    .map(([name, own = name]) => [name, own])
}
