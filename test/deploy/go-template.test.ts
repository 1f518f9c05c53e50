import t from 'tap'
import { parseTemplate, Renderer } from '../support/nodes/go-template.ts'

const FUNCTIONS = {
  upper: (text: unknown) => String(text).toUpperCase(),
  join: (...values: readonly unknown[]) => values.join('-'),
}
const DOT = { a: { b: 'x' }, none: '', zero: 0, list: [1, 2], map: { z: 1, y: 2 }, empty: {} }
const written = (text: string): string =>
  new Renderer(parseTemplate('file', text), FUNCTIONS).render('file', DOT)

for (const [what, text] of [
  ['a function that is not known', '{{ lower .a.b }}'],
  ['a function of every object', '{{ constructor .a }}'],
  ['a member of nothing', '{{ .absent.b }}'],
  ['a variable that is not set', '{{ $a }}'],
  ['a block that does not end', '{{ if .a }}x'],
  ['an end of nothing', 'x{{ end }}'],
  ['an else of nothing', 'x{{ else }}y'],
  ['a template that is not there', '{{ include "a" . }}'],
  ['a map as a text', '{{ .a }}'],
  ['a parenthesis that stays open', '{{ upper (join "a" }}'],
  ['two values without a function', '{{ .a.b .none }}'],
  ['a sign that has no meaning here', '{{ upper ? }}'],
] as const) {
  t.test(`a template with ${what} is refused`, async (t) => t.throws(() => written(text)))
}

for (const [text, meant] of [
  ['a {{- /* no */ -}} b', 'ab'],
  ['{{ .a.b }}|{{ $.a.b }}|{{ .absent }}|', 'x|x||'],
  ['a\n  {{- .a.b }}\n{{ .a.b -}}\n c', 'ax\nxc'],
  ['{{ upper "a{\\"" | join "b" (upper (join 1 .a.b)) }}', 'b-1-X-A{"'],
  ['{{ if .none }}1{{ else if .zero }}2{{ else if .empty }}3{{ else }}4{{ end }}', '4'],
  ['{{ with .a }}{{ .b }}{{ $.zero }}{{ else }}no{{ end }}', 'x0'],
  ['{{ with .none }}{{ . }}{{ else }}no{{ end }}', 'no'],
  ['{{ range .list }}{{ . }},{{ end }}', '1,2,'],
  ['{{ range $k, $v := .map }}{{ $k }}={{ $v }} {{ end }}', 'y=2 z=1 '],
  ['{{ define "t" }}[{{ .b }}]{{ end }}{{ include "t" .a }}', '[x]'],
] as const) {
  t.test(`${text} is read as in Go`, async (t) => t.equal(written(text), meant))
}
