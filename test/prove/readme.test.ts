import { program } from './readme.ts'
import { short } from './short.ts'

await short('readme', program)
