import t from 'tap'
import { filenameIssue } from '../../src/schemas/files/filenames.ts'

t.test('accepts names in any language, and with emoji', async (t) => {
  for (const name of [
    'a',
    'a/b.csv',
    'Отчёт 2.pdf',
    '年度.txt',
    '\u{1f469}\u200d\u{1f4bb}.md',
    'می\u200cخواهم.txt',
    'a\u00a0b',
    '.x',
  ]) {
    t.equal(filenameIssue(name), null, encodeURI(name))
  }
})

t.test('refuses a name that is not valid text, or that would look like another name', async (t) => {
  const names = [
    'a\ud800b',
    '\udc00',
    'a\ufffd',
    'a\u202egpj.exe',
    'a\u2066b',
    'a\u200bb',
    '\ufeffa',
    'a\u00adb',
    'a\u2028b',
    'a\u2029b',
    'a\u0085b',
    'a\u007f',
    'a\nb',
    '\u{e0041}a',
  ]
  for (const name of names)
    t.match(
      filenameIssue(name),
      { message: 'contains a forbidden character' },
      encodeURI(name.toWellFormed()),
    )
})
