/** The script of every page of the documentation: copies blocks and searches. Nothing needs it for reading. */
import { addCopying } from './copying.ts'
import { addSearch } from './search-box.ts'

addCopying()
addSearch()
