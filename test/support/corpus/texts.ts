import { bytes, file, utf8, type CorpusFile } from './bytes.ts'

const JSON_TYPE = 'application/json'
const NDJSON = 'application/x-ndjson'
const CSV = 'text/csv'
const MARKDOWN = 'text/markdown'
const PLAIN = 'text/plain'
const MEBIBYTE = 1_048_576

function text(name: string, expected: string, content: string | (() => string)): CorpusFile {
  return file(name, expected, () => utf8(typeof content === 'string' ? content : content()))
}

const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth)

const JSON_TEXTS: readonly CorpusFile[] = [
  text('json object', JSON_TYPE, '{"a": 1, "b": [true, false, null, -0.5e+10, "x\\u00e9\\n"]}'),
  text('json array', JSON_TYPE, '[1,2,3]'),
  text('json empty object', JSON_TYPE, '{}'),
  text('json over several lines', JSON_TYPE, '\n{\r\n  "a": [\n    1\n  ]\n}\n\n'),
  text('json with a byte order mark', JSON_TYPE, '\ufeff{"a":1}'),
  text('json array of objects on lines', JSON_TYPE, '[\n{"a":1},\n{"a":2}\n]\n'),
  text('json of a single line that ends', JSON_TYPE, '{"a":1}\n'),
  text('json 10,000 deep', JSON_TYPE, () => nested(10_000)),
  text('json 10,001 deep', PLAIN, () => nested(10_001)),
  text('json of 10,000 objects deep', JSON_TYPE, () => '{"a":'.repeat(9_999) + '{}' + '}'.repeat(9_999)),
  text('json 100,000 deep', PLAIN, () => nested(100_000)),
  text('json that is never closed', PLAIN, () => '['.repeat(300_000)),
  text(
    'json of 4 MB on one line',
    JSON_TYPE,
    () => `[${'{"id":12345,"name":"somebody"},'.repeat(140_000)}0]`,
  ),
  text('json number', PLAIN, '42'),
  text('json string', PLAIN, '"hello"'),
  text('json null', PLAIN, 'null'),
  text('json truncated', PLAIN, '{"a": [1, 2'),
  text('json with a comma too many', PLAIN, '{"a": 1,}'),
  text('json with a comment', PLAIN, '{"a": 1 /* one */}'),
  text('json with single quotes', PLAIN, "{'a': 1}"),
  text('json with a leading zero', PLAIN, '[01]'),
  text('json with NaN', PLAIN, '[NaN]'),
  text('json with a raw tab in a string', PLAIN, '["a\tb"]'),
  text('json with brackets crossed', PLAIN, '[{"a":1]}'),
  text('json and something behind', PLAIN, '{"a":1} and more'),
  text('json twice on a line', PLAIN, '{"a":1} {"a":2}'),
  text('json with an escape that is none', PLAIN, '["\\x41"]'),
]

const NDJSON_TEXTS: readonly CorpusFile[] = [
  text('ndjson', NDJSON, '{"a":1}\n{"a":2}\n'),
  text('ndjson without a last line break', NDJSON, '{"a":1}\n{"a":2}'),
  text('ndjson with CR LF', NDJSON, '{"a":1}\r\n{"a":2}\r\n'),
  text('ndjson with empty lines', NDJSON, '\n{"a":1}\n\n  \n[2]\n\n'),
  text('ndjson of arrays', NDJSON, '[1]\n[2]\n[3]'),
  text('ndjson of 2 MB', NDJSON, () => '{"prompt":"x","completion":"y, z"}\n'.repeat(60_000)),
  text('ndjson with a byte order mark', NDJSON, '\ufeff{"a":1}\n{"a":2}\n'),
  text('ndjson with a number between', PLAIN, '{"a":1}\n2\n{"a":3}\n'),
  text('ndjson whose last line is cut', PLAIN, '{"a":1}\n{"a":'),
  text('ndjson with two values on a line', PLAIN, '{"a":1}\n{"a":2}{"a":3}\n'),
  text('ndjson with a value over two lines', PLAIN, '{"a":1}\n{"a":\n2}\n'),
]

const CSV_TEXTS: readonly CorpusFile[] = [
  text('csv', CSV, 'a,b\n1,2\n'),
  text('csv with semicolons', CSV, 'a;b;c\n1;2,5;3\n4;5;6\n'),
  text('csv with tabs', CSV, 'a\tb\n1\t2\n'),
  text('csv with CR LF', CSV, 'a,b\r\n1,2\r\n3,4'),
  text('csv with quotes', CSV, '"a","b, with ""quotes"""\n"1","two\nlines"\n'),
  text('csv with empty fields', CSV, ',,\n,,\n'),
  text('csv with a byte order mark', CSV, '\ufeffa,b\n1,2\n'),
  text('csv with a quoted first field behind a mark', CSV, '\ufeff"a",b\n1,2\n'),
  text('csv with empty lines at the end', CSV, 'a,b\n1,2\n\n\r\n'),
  text('csv of other scripts', CSV, 'имя,возраст\nАнна,31\n'),
  text('csv with markdown inside', CSV, 'title,body\n# one,[a](b)\n# two,[c](d)\n'),
  text('csv with one line of 3 MB', CSV, () => `${'x,'.repeat(1_500_000)}y\n${','.repeat(1_500_000)}\n`),
  text('csv with a field of 3 MB', CSV, () => `a,"${'x\n'.repeat(1_500_000)}"\nb,c\n`),
  text('csv of 3 MB', CSV, () => '12,name,"quoted, field",3.5\n'.repeat(115_000)),
  text('csv of a header alone', PLAIN, 'a,b,c\n'),
  text('csv of one column', PLAIN, 'a\nb\nc\n'),
  text('csv with a record short of a field', PLAIN, 'a,b\n1,2\n3\n'),
  text('csv whose last record of many is longer', PLAIN, () => `${'a,b\n'.repeat(5_000)}1,2,3\n`),
  text('csv with a quote in a plain field', PLAIN, 'a,b\n5" pipe,2\n'),
  text('csv with text behind a quote', PLAIN, 'a,b\n"1"x,2\n'),
  text('csv whose quote is never closed', PLAIN, 'a,b\n"1,2\n'),
  text('csv with an empty line between', PLAIN, 'a,b\n\n1,2\n'),
  text('csv with lone CRs', PLAIN, 'a,b\r1,2\r'),
]

const MARKDOWN_TEXTS: readonly CorpusFile[] = [
  text('markdown heading', MARKDOWN, 'Some words.\n\n# Title\n'),
  text('markdown heading of six', MARKDOWN, '   ###### Title'),
  text('markdown fence', MARKDOWN, 'Run:\n\n```sh\nls\n```\n'),
  text('markdown fence of tildes', MARKDOWN, 'Run:\n~~~\nls\n~~~\n'),
  text('markdown fence at the very end', MARKDOWN, 'Run:\n```'),
  text('markdown table', MARKDOWN, 'Numbers:\n\n| a | b |\n|---|:-:|\n| 1 | 2 |\n'),
  text('markdown table without outer pipes', MARKDOWN, 'a | b\n--- | ---\n1 | 2\n'),
  text('markdown table with an escaped pipe', MARKDOWN, '| a \\| b | c |\r\n| --- | --- |\r\n'),
  text('markdown link', MARKDOWN, 'See [the site](https://example.com) for more.'),
  text('markdown link with a title', MARKDOWN, 'See [it](</a b> "the title") there.'),
  text('markdown picture', MARKDOWN, '![alt](a.png)'),
  text('markdown picture within a link', MARKDOWN, '[![build](a.svg)](https://example.com)'),
  text('markdown list', MARKDOWN, 'Buy:\n\n- milk\n- bread\n'),
  text('markdown list of stars, bold', MARKDOWN, '* **one** and\n* **two** or\n'),
  text('markdown numbered list', MARKDOWN, 'Do:\n1. this\n2. that\n'),
  text('markdown tasks', MARKDOWN, '- [ ] one\n- [x] two\n'),
  text(
    'markdown behind a tag',
    MARKDOWN,
    '<p align="center">\n  <img src="a.png">\n</p>\n\n# Title\n\nWords.\n',
  ),
  text('markdown with a byte order mark', MARKDOWN, '\ufeff# Title\n'),
  text('markdown link behind 2 MB on one line', MARKDOWN, () => `${'word '.repeat(400_000)}[a](b)`),
  text('markdown heading with lone CRs', MARKDOWN, 'words\r# Title\r'),
  text('one list item', PLAIN, 'Buy:\n- milk\n'),
  text('hashes without a space', PLAIN, '#hashtag and #another\n#third\n'),
  text('seven hashes', PLAIN, '####### Title\n'),
  text('lines of hashes', PLAIN, '######\nwords\n######\n'),
  text('heading in code', PLAIN, 'words\n\n    # not a heading\n'),
  text('line across', PLAIN, 'a\n\n* * *\n\n- - -\n\nb\n'),
  text('pipes without dashes', PLAIN, 'a | b\nc | d | e\n'),
  text('dashes that are fewer than the head', PLAIN, 'a | b | c\n--- | ---\n'),
  text('table of psql', PLAIN, ' id | name\n----+------\n  1 | x\n'),
  text('code with an index and a call', PLAIN, 'x = table[0](y) + other[key](value)\n'),
  text('brackets without a target', PLAIN, 'see [1] (page 3) and [2]\n(page 4)\n'),
  text('link over two lines', PLAIN, 'see [the\nsite](x y)\n'),
  text('three back-ticks in a line', PLAIN, 'write ```x``` like this\n'),
  text('three back-ticks closed on their line', PLAIN, '```x``` like this\n'),
]

const PLAIN_TEXTS: readonly CorpusFile[] = [
  text('plain', PLAIN, 'Hello, world.\nThis is a text.\n'),
  text('one letter', PLAIN, 'x'),
  text('white space', PLAIN, ' \n\t\n'),
  text('a byte order mark alone', PLAIN, '\ufeff'),
  text('other scripts and emoji', PLAIN, 'Grüße, 世界 👩‍👩‍👧 привет\n'),
  text('100 MB on one line, in short', PLAIN, () => 'abcdefgh'.repeat(MEBIBYTE)),
  text('html', PLAIN, '<!DOCTYPE html>\n<html><body># no\n- a\n- b\n[a](b)</body></html>\n'),
  text('html behind a comment', PLAIN, '<!-- hi -->\n<html><body>\n# no heading\n</body></html>'),
  text('html in capitals', PLAIN, '<HTML><BODY>a, b</BODY></HTML>\n<!-- c, d -->\n'),
  text('svg', PLAIN, '<svg xmlns="http://www.w3.org/2000/svg"><path d="M0,0 L1,1"/>\n# x\n</svg>'),
  text('xml', PLAIN, '<?xml version="1.0"?>\n<a>1, 2</a>\n'),
  text('xml without a declaration', PLAIN, '<note>\n<to>- a</to>\n# b\n- c\n- d\n</note>\n'),
  text('tags with commas', PLAIN, '<b>a, b</b>\n<b>c, d</b>\n'),
  text('shell script', PLAIN, '#!/bin/sh\n# A comment\nset -e\n'),
  text('python script', PLAIN, '# A comment\n\nimport os\n# Another\nprint(os)\n'),
  text('python script of imports', PLAIN, 'import os, sys\nprint(os, sys)\n'),
  text('javascript', PLAIN, '// words\nconst a = 1, b = 2\nlet c = 3, d = 4\n'),
  text('c', PLAIN, '#include <stdio.h>\n# define X 1\nint main() { return 0; }\n'),
  text('sql', PLAIN, '-- people\nSELECT a, b\nFROM x, y\n'),
  text('rtf', PLAIN, '{\\rtf1 Hello}'),
  text('text that begins ID3', PLAIN, 'ID3 is a format of tags.\n'),
  text('text that begins BM', PLAIN, 'BM stands for bitmap.\n'),
  text('text that begins MZ', PLAIN, 'MZ are the initials of Mark Zbikowski.\n'),
  text('text that begins fLaC', PLAIN, 'fLaC is how FLAC files begin.\n'),
  text('text that begins RIFF', PLAIN, 'RIFF1234WAVE is how WAV files begin.\n'),
  text('text that begins OggS', PLAIN, 'OggS begins each page.\n'),
  text('text that begins GIF8', PLAIN, 'GIF89a was made in 1989.\n'),
  text('text that begins PK', PLAIN, 'PK\u0003\u0004 is how zips begin.\n'),
  text('text with control characters', PLAIN, 'a\u001b[31mred\u001b[0m\u0007\f\n'),
  file('text with the mark of order in the middle', PLAIN, () => bytes('a', [0xef, 0xbb, 0xbf], 'b')),
]

export const TEXTS: readonly CorpusFile[] = [
  ...JSON_TEXTS,
  ...NDJSON_TEXTS,
  ...CSV_TEXTS,
  ...MARKDOWN_TEXTS,
  ...PLAIN_TEXTS,
]
