/** The script of every page of the documentation: copies blocks, searches and shows a theme. Nothing needs it for reading. */
import { addCopying } from './copying.ts'
import { addSearch } from './search-box.ts'
import { addTheme } from './theme.ts'

addCopying()
addSearch()
addTheme()
