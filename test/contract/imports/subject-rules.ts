/** The subjects of the product, and which of them may import which other one in a layer, as data. */
import { importsOf, type SourceFile } from '../../support/source.ts'
import { eachImport, ourTarget } from './each-import.ts'

/** The subjects of the product: a subfolder of a layer bears the name of one. */
export const SUBJECTS = [
  'models',
  'embeddings',
  'files',
  'containers',
  'videos',
  'webhooks',
  'vault',
  'endpoints',
  'egress',
  'keys',
  'workspaces',
  'money',
  'presets',
  'scim',
  'audit',
  'operator',
  'inference',
  'requests',
  // Forms of calls to models.
  'chat',
  'messages',
  'responses',
  'gemini',
] as const

interface SubjectRules {
  /** Folders below the subjects, which every subject may import; files of the layer itself belong to them. */
  readonly base: readonly string[]
  /** Folders above the subjects, which may import all of them. */
  readonly above: readonly string[]
  /** What a subject may import of other subjects. */
  readonly rows: Readonly<Record<string, readonly string[]>>
}

/** The layers whose subfolders are subjects, and which subject may import which other one. */
export const SUBJECT_LAYERS: Readonly<Record<string, SubjectRules>> = {
  schemas: {
    base: ['lists', 'limits', 'values'],
    above: [],
    rows: {
      embeddings: ['models', 'presets'],
      endpoints: ['money', 'vault'],
      files: ['containers'],
      inference: ['files', 'models', 'presets'],
      models: ['workspaces'],
      money: ['models', 'operator'],
      // What the installation is set up with, and what its operators see of everything.
      operator: ['videos', 'webhooks'],
      presets: ['models'],
      scim: ['workspaces'],
      videos: ['money', 'presets', 'webhooks'],
      webhooks: ['money', 'videos'],
      workspaces: ['egress', 'operator'],
    },
  },
  dialects: {
    // What dialects have in common: the form of a request between them, and the walk over bytes.
    base: ['prompt', 'table', 'walk'],
    above: ['presets'],
    rows: {},
  },
  ports: {
    base: [],
    above: [],
    rows: {
      containers: ['files'],
      embeddings: ['models', 'money'],
      inference: ['models', 'money'],
      endpoints: ['keys', 'models', 'vault'],
      files: ['containers', 'vault'],
      keys: ['money', 'vault'],
      models: ['egress'],
      money: ['keys', 'vault'],
      operator: ['vault', 'workspaces'],
      presets: ['vault', 'workspaces'],
      scim: ['vault', 'workspaces'],
      vault: ['audit'],
      videos: ['keys', 'models'],
      webhooks: ['vault'],
      workspaces: ['vault'],
    },
  },
  // Resources of the API do not know each other; `wrongDirections` holds them to that.
  operations: { base: [], above: [], rows: {} },
  runner: { base: [], above: [], rows: {} },
  upstream: {
    // Choosing among the endpoints of a model, and trying them.
    base: ['routing'],
    above: [],
    // A workspace's own endpoints and keys call providers as the operator's do, and are targets of a call.
    rows: { embeddings: ['endpoints'], endpoints: ['embeddings', 'inference'] },
  },
  store: {
    base: ['base', 'migrations'],
    // The begin and the end of a whole owner touch every subject.
    above: ['lifecycle'],
    rows: {
      containers: ['files'],
      files: ['containers', 'videos'],
      keys: ['money', 'workspaces'],
      money: ['nodes'],
      nodes: [],
      operator: ['webhooks', 'workspaces'],
      vault: ['endpoints'],
      videos: ['money', 'webhooks'],
      workspaces: ['money', 'scim', 'vault'],
    },
  },
  cli: {
    base: ['parts'],
    above: [],
    rows: {
      endpoints: ['vault'],
      files: ['vault'],
      operator: ['keys', 'models', 'vault'],
      scim: ['keys'],
      vault: ['operator'],
      webhooks: ['keys', 'vault'],
      workspaces: ['vault'],
    },
  },
}

/**
 * Imports of another subject that no row of its layer allows, and folders that are no subject; one line each.
 */
export function wrongSubjects(files: readonly SourceFile[]): readonly string[] {
  const strangers = new Set(
    files.flatMap((file) => {
      const at = subjectOf(file.path)
      return at === null || isKnownFolder(at) ? [] : [`${at.layer}/${at.folder} is the name of no subject`]
    }),
  )
  const imports = eachImport(files, (file, found) => {
    const target = ourTarget(file, found)
    const from = subjectOf(file.path)
    const to = target === null ? null : subjectOf(target)
    if (from === null || to === null || from.layer !== to.layer || from.folder === to.folder) return null
    const { base, above, rows } = rulesOf(from.layer)
    if (base.includes(to.folder) || above.includes(from.folder) || isLimits(target)) return null
    if (base.includes(from.folder))
      return `${from.folder} is below the subjects and may not import ${to.folder}`
    return rows[from.folder]?.includes(to.folder) === true
      ? null
      : `${from.layer}/${from.folder} may not import ${to.folder}`
  })
  return [...strangers, ...imports]
}

interface SubjectPlace {
  readonly layer: string
  readonly folder: string
}

/** Named limits of a subject are for every subject. */
function isLimits(target: string | null): boolean {
  return target?.endsWith('-limits.ts') === true
}

/** Null for files that lie in their layer itself, and for layers that have no subjects. */
function subjectOf(path: string): SubjectPlace | null {
  const [layer = '', folder = '', file] = path.replace(/^src\/(?:server\/)?/, '').split('/')
  return file === undefined || SUBJECT_LAYERS[layer] === undefined ? null : { layer, folder }
}

function rulesOf(layer: string): SubjectRules {
  return SUBJECT_LAYERS[layer] ?? { base: [], above: [], rows: {} }
}

function isKnownFolder({ layer, folder }: SubjectPlace): boolean {
  const { base, above, rows } = rulesOf(layer)
  return (
    SUBJECTS.some((name) => name === folder) || [...base, ...above, ...Object.keys(rows)].includes(folder)
  )
}

/** Rows of the table of subjects that nothing needs, one line each. */
export function idleSubjectRows(files: readonly SourceFile[]): readonly string[] {
  const used = new Set(
    files.flatMap((file) =>
      importsOf(file).flatMap((found) => {
        const target = ourTarget(file, found)
        const from = subjectOf(file.path)
        const to = target === null ? null : subjectOf(target)
        return from === null || to === null || isLimits(target)
          ? []
          : [`${from.layer}: ${from.folder} → ${to.folder}`]
      }),
    ),
  )
  return Object.entries(SUBJECT_LAYERS)
    .flatMap(([layer, { rows }]) =>
      Object.entries(rows).flatMap(([from, names]) => names.map((to) => `${layer}: ${from} → ${to}`)),
    )
    .filter((row) => !used.has(row))
}
