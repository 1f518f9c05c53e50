import { h, render } from 'preact'
import { App } from './app.tsx'
import { followTheme } from './theme.tsx'

followTheme()
render(<App />, document.body)
