/** Prompts of calls that are left: texts of several languages, pictures and documents, in the forms of callers. */
import { readFile } from 'node:fs/promises'
import { ROOT } from '../../../support/source.ts'
import type { Proof } from '../../proof.ts'
import type { PacedDialect } from './dialects.ts'

export const LANGUAGES = ['english', 'code', 'chinese'] as const
export type Language = (typeof LANGUAGES)[number]
export type Corpora = Readonly<Record<Language, string>>

const CHINESE =
  '城里的人们清晨就开始排队买面包。雨下了一整夜，街道上到处是水坑，孩子们踩着水去学校。图书馆今天关门，因为屋顶漏水，' +
  '管理员正在把旧书搬到二楼。下午三点，市长宣布新的桥梁将在明年春天完工，预算比原计划多出两成。商店里的鱼很新鲜，但是价格比上周贵。' +
  '老师问学生为什么月亮有时候看起来像镰刀，有人回答说那是地球的影子，其实并不完全正确。电脑程序出了错误，工程师花了六个小时才找到原因：' +
  '一个数字多写了一个零。晚上大家在河边散步，听见远处传来火车的声音，想起很多年前离开家乡的那一天。'

/** Texts of the repository, and some of a language with characters of three bytes. */
export async function readCorpora(): Promise<Corpora> {
  const textOf = async (...files: readonly string[]): Promise<string> =>
    (await Promise.all(files.map((file) => readFile(`${ROOT}/${file}`, 'utf8')))).join('\n')
  const inference = 'src/server/inference'
  return {
    english: await textOf('README.md', 'docs/use/chat.md', 'docs/use/money.md', 'docs/inside/design.md'),
    code: await textOf(`${inference}/inference.ts`, `${inference}/relay.ts`, `${inference}/bounds.ts`),
    chinese: CHINESE.repeat(40),
  }
}

export function textPart({ name }: PacedDialect, text: string): object {
  return { type: name === 'responses' ? 'input_text' : 'text', text }
}

export function picturePart({ name }: PacedDialect, data: string, isSmall: boolean): object {
  const detail = isSmall ? { detail: 'low' } : null
  const url = `data:image/png;base64,${data}`
  if (name === 'messages') return { type: 'image', source: { type: 'base64', media_type: 'image/png', data } }
  return name === 'responses'
    ? { type: 'input_image', image_url: url, ...detail }
    : { type: 'image_url', image_url: { url, ...detail } }
}

export function documentPart({ name }: PacedDialect, data: string): object {
  const file = { filename: 'a.pdf', file_data: `data:application/pdf;base64,${data}` }
  if (name === 'messages')
    return { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data } }
  return name === 'responses' ? { type: 'input_file', ...file } : { type: 'file', file }
}

interface Excerpted {
  readonly proof: Pick<Proof, 'random'>
  readonly corpora: Corpora
}

export function excerpt({ proof, corpora }: Excerpted, language: Language, chars: number): string {
  const text = corpora[language]
  const start = proof.random(Math.max(1, text.length - chars))
  return text.slice(start, start + chars)
}
