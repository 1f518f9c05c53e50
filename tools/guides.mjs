// Makes guides from README.md and the files that its contents list, so that no text is written twice: the
// README is the first page, and each listed file is a page. A link to a missing target, and HTML, end the
// build.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, posix } from 'node:path'
import { lexer, Parser, Renderer } from 'marked'
import { GUIDES_PATH } from '../dist/src/schemas/api-prefix.js'
import { blockOf } from '../dist/src/server/http/reference/pages/highlight.js'
import { escaped } from '../dist/src/server/http/reference/pages/html.js'
import { shellOf, turnsOf } from '../dist/src/server/http/reference/pages/shell.js'

const README = 'README.md'
/** Heading of the README under which its list names the pages. */
const CONTENTS = 'Documentation'
/** Texts of the repository that a node does not serve: a link to one is shown as its text and its path. */
const UNSERVED = /^(?:[A-Z]+|docs\/[\w/-]+)\.md$/
/** Address of a local node in the README: in a guide it becomes the serving node's. */
const HOME = 'http://127.0.0.1:8080/docs'

/** @returns the guides of this repository, by their names */
export function guides() {
  return guidesOf((path) => readFileSync(path, 'utf8'))
}

/**
 * @param folder folder that serves the pages; earlier contents are removed
 * @param pages HTML by name
 */
export function writePages(folder, pages) {
  mkdirSync(folder, { recursive: true })
  for (const [name, html] of pages) writeFileSync(`${folder}/${name}.html`, html)
  for (const file of readdirSync(folder))
    if (!pages.has(file.replace(/\.html$/, ''))) rmSync(`${folder}/${file}`)
}

/**
 * @param textOf returns the text of a file of the repository
 * @returns the pages' texts by their names; `index` is the README, with its contents as a list of the other
 * pages
 */
export function guidesOf(textOf) {
  const pageOf = (path, name) => ({ name, path, ...sectionOf(lexer(textOf(path))) })
  const start = pageOf(README, 'index')
  const at = start.tokens.findIndex((token) => token.type === 'heading' && plain(token.tokens) === CONTENTS)
  const list = start.tokens.findIndex(({ type }, place) => at !== -1 && place > at && type === 'list')
  if (list === -1) throw new Error(`${README}: no list follows a heading "${CONTENTS}"`)
  const groups = groupsOf(start.tokens[list]).map(({ title, paths }) => ({
    title,
    members: paths.map((path) => pageOf(path, basename(path, '.md').toLowerCase())),
  }))
  const order = groups.flatMap(({ members }) => members)
  const pages = [start, ...order]
  const twice = pages.find(({ name }, at) => pages.findIndex((one) => one.name === name) !== at)
  if (twice !== undefined) throw new Error(`${README}: two pages would be called ${twice.name}`)
  const anchors = new Map(pages.flatMap((page) => [...anchorsOf(page)]))
  const render = (tokens, path) =>
    Parser.parse(tokens, { renderer: new GuideRenderer(anchors, { path, pages }) })
  const made = order.map((page, at) => [
    page.name,
    shellOf({
      title: page.title,
      all: allOf(groups, page.name),
      body: `${render([page.heading, ...page.tokens], page.path)}${turnsOf(neighbour(order[at - 1]), neighbour(order[at + 1]))}`,
    }),
  ])
  const lists = groups
    .map(({ title, members }) => `<div>\n<h3>${escaped(title)}</h3>\n${listOf(members)}\n</div>`)
    .join('\n')
  const nav = `<nav class="groups" aria-label="Guides">\n${lists}\n</nav>\n`
  const body = `${render([start.heading, ...start.tokens.slice(0, list)], README)}${nav}${render(start.tokens.slice(list + 1), README)}`
  return new Map([['index', shellOf({ title: 'Guides', body })], ...made])
}

/**
 * The section of a page: its first heading is the page's own at any level; the text before it is a comment.
 */
function sectionOf(all) {
  const [heading, ...tokens] = all.slice(all.findIndex(({ type }) => type === 'heading'))
  const lift = heading.depth - 1
  for (const token of tokens) if (token.type === 'heading') token.depth -= lift
  heading.depth = 1
  return { title: plain(heading.tokens), heading, tokens }
}

/** @returns the anchor of each heading of a page: GitHub's, which counts equal ones */
function anchorsOf({ name, path, heading, tokens }) {
  const [anchors, counts] = [new Map(), new Map()]
  for (const token of [heading, ...tokens.filter(({ type }) => type === 'heading')]) {
    const slug = slugOf(plain(token.tokens))
    const count = counts.get(slug) ?? 0
    counts.set(slug, count + 1)
    anchors.set(token, { id: count === 0 ? slug : `${slug}-${count}`, page: name, path })
  }
  return anchors
}

function slugOf(title) {
  return title
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '')
    .replaceAll(' ', '-')
}

function plain(tokens) {
  return tokens.map((token) => (token.tokens === undefined ? token.text : plain(token.tokens))).join('')
}

/** The groups of a list whose items are a bold title and links to files. */
function groupsOf(list) {
  return list.items.map((item) => {
    const parts = item.tokens.flatMap(({ tokens }) => tokens)
    const title = plain(parts.filter(({ type }) => type === 'strong')).replace(/:$/, '')
    return { title, paths: parts.filter(({ type }) => type === 'link').map(({ href }) => href) }
  })
}

class GuideRenderer extends Renderer {
  #anchors
  #path
  #pages

  /** @param path path of the rendered file */
  constructor(anchors, { path, pages }) {
    super()
    this.#anchors = anchors
    this.#path = path
    this.#pages = pages
  }

  heading(token) {
    const { id } = this.#anchors.get(token)
    const text = this.parser.parseInline(token.tokens)
    const anchor =
      token.depth === 1 ? '' : ` <a class="anchor" href="#${id}" aria-label="Link to this heading">#</a>`
    return `<h${token.depth} id="${id}">${text}${anchor}</h${token.depth}>\n`
  }

  link({ href, tokens }) {
    const text = this.parser.parseInline(tokens)
    const place = this.#placeOf(href)
    return place === null
      ? `${text} (<code>${escaped(this.#fileOf(href))}</code>)`
      : `<a href="${escaped(place)}">${text}</a>`
  }

  code({ text, lang = '' }) {
    return blockOf(text, lang.split(' ')[0])
  }

  table(token) {
    return `<div class="table" tabindex="0">\n${super.table(token)}</div>\n`
  }

  html({ text }) {
    if (/^<!--(?:(?!-->)[\s\S])*-->\s*$/.test(text)) return ''
    throw new Error(`${this.#path}: HTML is not passed on: ${text}`)
  }

  image({ href }) {
    throw new Error(`${this.#path}: guides show no pictures: ${href}`)
  }

  /** Null for a file that is no page. */
  #placeOf(href) {
    if (href.startsWith(HOME)) return href.slice(HOME.length - '/docs'.length)
    if (/^https:\/\//.test(href)) return href
    const path = this.#fileOf(href)
    const id = href.split('#')[1]
    const page = this.#pages.find((one) => one.path === path)
    if (page !== undefined && id === undefined) return placeOf(page)
    const found = [...this.#anchors.values()].find((one) => one.path === path && one.id === id)
    if (found !== undefined) return `${placeOf(page)}#${id}`
    if (page === undefined && UNSERVED.test(path)) return null
    throw new Error(`${this.#path}: no page has ${href}`)
  }

  /** Path from the root of the repository. */
  #fileOf(href) {
    const [name] = href.split('#')
    return name === '' ? this.#path : posix.join(posix.dirname(this.#path), name)
  }
}

/** Path of a guide on a node. */
export function placeOf({ name }) {
  return name === 'index' ? `${GUIDES_PATH}/` : `${GUIDES_PATH}/${name}`
}

function neighbour(page) {
  return page === undefined ? null : { path: placeOf(page), title: page.title }
}

function listOf(members, current) {
  const item = ({ name, title }) =>
    `<li><a href="${placeOf({ name })}"${name === current ? ' aria-current="page"' : ''}>${escaped(title)}</a></li>`
  return `<ul>\n${members.map(item).join('\n')}\n</ul>`
}

/** The lists of all guides, beside the one of this name. */
function allOf(groups, name) {
  return groups.map((group) => `<h2>${escaped(group.title)}</h2>\n${listOf(group.members, name)}`).join('\n')
}
